/* SPDX-License-Identifier: Apache-2.0 */
/* What scrolls sideways can be focused, so that keys scroll it. Copy buttons are no navigation of their own. */
const mend = () => {
  for (const one of document.querySelectorAll("pre > code, .md-typeset__scrollwrap")) {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
    else one.removeAttribute("tabindex");
  }
  for (const nav of document.querySelectorAll(".md-code__nav:not([role])")) nav.setAttribute("role", "none");
};
/* A long name at the head of a row breaks after a dot, a colon or an underscore. */
for (const code of document.querySelectorAll("td:first-child code")) {
  const parts = code.children.length ? [] : code.textContent.split(/(?<=[._:/,])(?=\w)/);
  if (parts.length > 1) code.replaceChildren(...parts.flatMap((part) => [document.createElement("wbr"), part]).slice(1));
}
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", mend);
addEventListener("load", mend);
mend();
