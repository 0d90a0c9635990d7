// SPDX-License-Identifier: Apache-2.0
// Draws the panels that are too large for static elements, from their JSON, and moves the others to make room: those of
// the SVG that it is in, or all of a page.
(function () {
  const NS = "http://www.w3.org/2000/svg", LINE = 9;
  const script = document.currentScript;
  const own = (script && script.closest("svg")) || document.documentElement.closest("svg");

  function add(parent, name, attributes, text) {
    const made = document.createElementNS(NS, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    parent.appendChild(made);
    return made;
  }

  function box(x, y, width, height, inset, more) {
    return { x: x + inset, y: y + inset, width: width - 2 * inset, height: height - 2 * inset, ...more };
  }

  function drawCell(group, panel, row, column) {
    const [width, height, left, top] = panel.size;
    const [words, shade, fault = "", expected = "", marked = 0] = panel.cells[row][column];
    const x = left + column * width, y = top + row * height;
    const classes = ["c", shade >= 0 && !fault ? `s${shade % 8}` : "", fault].filter(Boolean).join(" ");
    const about = panel.about[row * panel.cells[0].length + column];
    const cell = add(group, "g", { class: classes, "data-at": `${row} ${column}` });
    if (about) cell.setAttribute("data-about", about);
    add(cell, "rect", box(x, y, width, height, 0));
    if (fault === "missing") add(cell, "rect", box(x, y, width, height, 0, { style: `fill:url(#${panel.hatch})` }));
    if (fault === "several" && !expected) add(cell, "rect", box(x, y, width, height, 1.5, { class: "b" }));
    if (expected) add(cell, "rect", box(x, y, width, height, 1.2, { class: "o" }));
    if (marked) add(cell, "rect", box(x, y, width, height, 0.5, { class: "m", rx: 4 }));
    const lines = words ? words.split("\n") : [];
    if (expected) lines.push("≠" + expected);
    const first = y + height / 2 - (LINE * (lines.length - 1)) / 2 + 2.8;
    lines.forEach((line, number) => {
      const last = expected && number === lines.length - 1;
      add(cell, "text", { x: x + width / 2, y: first + LINE * number, ...(last ? { class: "e" } : {}) }, line);
    });
  }

  function label(panel, axis, number) {
    return panel.labels[axis].length ? panel.labels[axis][number] : String(panel.first[axis] + number);
  }

  // What a pointer shows is made when it comes: a title for each of many thousand cells would take longer to draw.
  function describe(panel, cell) {
    if (cell.querySelector("title")) return;
    const [row, column] = cell.dataset.at.split(" ").map(Number);
    const [words, , , expected] = panel.cells[row][column];
    const at = `${panel.axes[0]} ${label(panel, 0, row)}, ${panel.axes[1]} ${label(panel, 1, column)}`;
    const owners = words ? words.split("\n").join(" ") : "no owner";
    const lines = [`${at}: ${owners}`, ...(expected ? [`expected: ${expected}`] : []), ...panel.captions];
    add(cell, "title", {}, lines.join("\n"));
  }

  function drawPanel(group) {
    const panel = JSON.parse(group.querySelector("metadata").textContent);
    const [width, height, left, top] = panel.size;
    group.replaceChildren();
    if (panel.words) group.setAttribute("data-words", panel.words);
    add(group, "text", { x: left, y: 9, class: "h" }, panel.heading);
    add(group, "text", { x: left - 4, y: top - 4, class: "d r" }, panel.axes.join("\\"));
    panel.cells[0].forEach((_, column) => {
      add(group, "text", { x: left + (column + 0.5) * width, y: top - 4, class: "d k" }, label(panel, 1, column));
    });
    panel.cells.forEach((cells, row) => {
      const y = top + (row + 0.5) * height + 3;
      add(group, "text", { x: left - 4, y: y, class: "d r" }, label(panel, 0, row));
      cells.forEach((_, column) => drawCell(group, panel, row, column));
    });
    group.addEventListener("pointerover", (event) => {
      const cell = event.target.closest("[data-at]");
      if (cell && !panel.words) describe(panel, cell);
    });
  }

  function drawAll(svg) {
    svg.querySelectorAll("[data-cells]").forEach(drawPanel);
    svg.querySelectorAll("[data-to]").forEach((one) => one.setAttribute("transform", `translate(${one.dataset.to})`));
    const [wide, tall, scale] = svg.dataset.box.split(" ").map(Number);
    svg.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
    svg.setAttribute("width", wide * scale);
    svg.setAttribute("height", tall * scale);
  }

  if (own) drawAll(own);
  else document.querySelectorAll("svg[data-box]:not(:has(script))").forEach(drawAll);
})();
