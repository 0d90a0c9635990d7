// SPDX-License-Identifier: Apache-2.0
// Figures of a page. One lane alone: a click on a cell, or l and L where the focus is in a drawing; Escape ends it.
// Panels below each other where the frame is narrow. What a pointer shows is put together when the pointer comes.
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
      if (lane !== null && mine && !cell.closest(".lc-zoom")) counts.set(panel, (counts.get(panel) ?? 0) + 1);
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
    if (!figure?.querySelector(".lc-lane") || cell.closest(".lc-overview")) return; // there a click chooses a part
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

  document.addEventListener("pointerover", (event) => {
    const cell = event.target.closest?.(".lc [data-about]");
    if (!cell || cell.querySelector("title")) return;
    const [kind, ...numbers] = cell.dataset.about.split(" "), words = JSON.parse(cell.parentNode.dataset.words)[kind];
    const title = document.createElementNS(cell.namespaceURI, "title");
    title.textContent = words[0] + numbers.map((number, at) => number + words[at + 1]).join("");
    cell.prepend(title);
  });

  // Letters are 8 units high: beside each other in fewer pixels than units they could not be read. Below a part
  // of it (zoom.js) the whole is an overview, and no higher than the window.
  function arrange(drawing, room) {
    const beside = (drawing.dataset.beside ??= drawing.getAttribute("viewBox")), below = `0 0 ${drawing.dataset.below}`;
    const part = drawing.closest("figure")?.querySelector(":scope > .lc-zoom:not([hidden])");
    const high = part ? 0.9 * innerHeight : Infinity;
    const fit = (box) => Math.min(room / box.split(" ")[2], high / box.split(" ")[3]);
    const narrow = fit(beside) < 1 && fit(below) > fit(beside), box = narrow ? below : beside;
    if (drawing.getAttribute("viewBox") === box) return;
    const scale = drawing.getAttribute("width") / drawing.viewBox.baseVal.width;
    drawing.setAttribute("viewBox", box);
    const [, , wide, tall] = box.split(" ").map(Number);
    drawing.setAttribute("width", wide * scale);
    drawing.setAttribute("height", tall * scale);
    for (const panel of drawing.querySelectorAll("g[data-below]")) {
      panel.dataset.beside ??= panel.getAttribute("transform");
      panel.setAttribute("transform", narrow ? `translate(${panel.dataset.below})` : panel.dataset.beside);
    }
  }

  const frames = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) {
      const drawing = target.querySelector("svg"), label = target.closest("figure")?.querySelector(".lc-full");
      if (drawing.dataset.below) arrange(drawing, contentRect.width);
      const full = label?.querySelector("input").checked;
      if (label && !full) label.hidden = drawing.clientWidth >= drawing.viewBox.baseVal.width;
    }
  });
  for (const frame of document.querySelectorAll(".lc-whole")) frames.observe(frame);
})();
