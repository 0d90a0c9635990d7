/* SPDX-License-Identifier: Apache-2.0 */
/* What scrolls sideways can be focused, so that keys scroll it. Copy buttons are no navigation of their own. */
const mend = () => {
  for (const one of document.querySelectorAll("pre > code, .md-typeset__scrollwrap")) {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
    else one.removeAttribute("tabindex");
  }
  for (const nav of document.querySelectorAll(".md-code__nav:not([role])")) nav.setAttribute("role", "none");
};
/* A long name in a table breaks after a dot, a colon or an underscore. */
for (const code of document.querySelectorAll("td code")) {
  const parts = code.children.length ? [] : code.textContent.split(/(?<=[._:/,])(?=[\w(])/);
  if (parts.length > 1) code.replaceChildren(...parts.flatMap((part) => [document.createElement("wbr"), part]).slice(1));
}
/* A sentence in a table that scrolls sideways has a width to be read in; else its row is as high as it has words. */
for (const cell of document.querySelectorAll("td")) if (cell.textContent.length > 40) cell.classList.add("lc-long");
/* A table that a command printed isn't wrapped: it scrolls. */
for (const code of document.querySelectorAll("pre > code")) {
  const rows = code.textContent.split("\n").map((line) => line.trim().split(/ {2,}/).length > 4);
  if (rows.some((row, at) => row && rows[at + 1])) code.classList.add("lc-columns");
}
new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
addEventListener("resize", mend);
addEventListener("load", mend);
mend();
/* What a command printed: its verdicts have their colours, as in a terminal. */
const VERDICTS = /\b(?:VERIFIED|PROVED|AGREES|SAFE|REFUTED|RELABELLED|CONTRADICTION|UNKNOWN|UNCHECKED|UNSPECIFIED)\b/g;
for (const code of document.querySelectorAll(".highlight code:has(.go), .language-text code")) {
  const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT), found = [];
  while (texts.nextNode()) if (texts.currentNode.data.search(VERDICTS) >= 0) found.push(texts.currentNode);
  for (const one of found) {
    const parts = document.createElement("span");
    let last = 0;
    for (const match of one.data.matchAll(VERDICTS)) {
      const word = document.createElement("b");
      [word.className, word.textContent] = [`lc-status ${match[0]}`, match[0]];
      parts.append(one.data.slice(last, match.index), word);
      last = match.index + match[0].length;
    }
    parts.append(one.data.slice(last));
    one.replaceWith(parts);
  }
}
