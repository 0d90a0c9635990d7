// SPDX-License-Identifier: Apache-2.0
// Shows the elements of one lane alone: a click on a cell, or l and L where the focus is in a drawing; Escape ends it.
(function () {
  const LANES = /^T(\d+)(?:-(\d+))?\b/;

  function lanes(cell) {
    const found = [];
    for (const line of cell.querySelectorAll("text:not(.e)")) {
      const match = LANES.exec(line.textContent);
      if (match) found.push([Number(match[1]), Number(match[2] ?? match[1])]);
    }
    return found;
  }

  function isolate(figure, lane) {
    const counts = new Map();
    figure.dataset.lane = lane ?? "";
    for (const cell of figure.querySelectorAll(".lc-scroll .lc .c")) {
      const held = lanes(cell), panel = cell.parentNode;
      if (!held.length && lane !== null && !cell.classList.contains("missing")) continue; // a sample of the legend
      const mine = held.some(([first, last]) => first <= lane && lane <= last);
      cell.classList.toggle("away", lane !== null && !mine);
      if (lane !== null && mine && cell.closest(".lc-whole, .lc-parts")) counts.set(panel, (counts.get(panel) ?? 0) + 1);
    }
    const name = (panel) => panel.querySelector(".h")?.textContent.split(" ")[0].replace(/:$/, "");
    const told = [...counts].map(([panel, count]) => `${count} of ${name(panel)}`);
    const part = figure.querySelector(".lc-parts") ? " in the parts that are drawn" : "";
    figure.querySelector(".lc-lane").textContent =
      lane === null ? "" : `Thread ${lane} holds ${told.join(", ") || "nothing"}${part}.`;
  }

  function largest(figure) {
    let most = 0;
    for (const cell of figure.querySelectorAll(".lc .c")) for (const [, last] of lanes(cell)) most = Math.max(most, last);
    return most;
  }

  const isolated = (figure) => (figure.dataset.lane ? Number(figure.dataset.lane) : null);

  document.addEventListener("click", (event) => {
    const cell = event.target.closest?.(".lc .c"), figure = cell?.closest("figure");
    if (!figure?.querySelector(".lc-lane")) return;
    const held = lanes(cell);
    if (held.length) isolate(figure, isolated(figure) === held[0][0] ? null : held[0][0]);
  });

  document.addEventListener("keydown", (event) => {
    const figure = event.target.closest?.(".lc-scroll")?.closest("figure");
    if (!figure?.querySelector(".lc-lane") || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") isolate(figure, null);
    if (event.key !== "l" && event.key !== "L") return;
    const count = largest(figure) + 1, at = isolated(figure), step = event.key === "l" ? 1 : -1;
    isolate(figure, at === null ? (step > 0 ? 0 : count - 1) : (at + step + count) % count);
  });
})();
