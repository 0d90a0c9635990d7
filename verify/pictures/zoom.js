// SPDX-License-Identifier: Apache-2.0
// The second level of a drawing whose letters are too small to read: above it a part in full size, from its first wrong
// cell on. A click in the drawing, or the arrow keys (with Shift by a whole part), choose another part. The part has
// copies of the drawing's cells, so a click and a pointer do in it what they do in the drawing.
(function () {
  const NS = "http://www.w3.org/2000/svg", SCALE = 1.5, ROWS = 6, READABLE = 0.9;
  const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const HINT = " For another part, click in the drawing below, or press an arrow key in it.";
  const PANEL = "g:has(> .k)", CELL = `${PANEL} > .c`;
  const WRONG = [":has(> .m)", ":has(> .o)", ".several", ".missing"].map((kind) => CELL + kind);

  function measure(panel) {
    const pick = (kind) => [...panel.querySelectorAll(`:scope > ${kind}`)];
    const [axes, ...rows] = pick(".r"), columns = pick(".k"), cells = pick(".c");
    const box = cells[0]?.querySelector("rect"), number = (name) => Number(box?.getAttribute(name));
    return { panel, axes, rows, columns, cells, heading: panel.querySelector(".h").textContent,
      left: number("x"), top: number("y"), width: number("width"), height: number("height") };
  }

  function frame(name) {
    const made = document.createElement("div");
    made.className = "lc-scroll lc-zoom";
    for (const [key, value] of [["tabindex", "0"], ["role", "region"], ["aria-label", `part of the ${name}`]])
      made.setAttribute(key, value);
    return made;
  }

  // The frames of a drawing's part: those that the page has of a wrong map, else new ones.
  function find(whole) {
    const around = whole.classList.contains("lc-whole") ? whole.parentNode : null;
    const zoom = around?.querySelector(":scope > .lc-zoom") ?? frame(whole.getAttribute("aria-label"));
    const near = around?.querySelector(":scope > .lc-near") ?? document.createElement("p");
    const kept = zoom.isConnected && { drawn: zoom.firstElementChild, words: near.textContent };
    if (!zoom.isConnected) {
      near.className = "lc-near";
      whole.before(near, zoom);
    }
    const words = near.firstChild ?? near.appendChild(document.createTextNode(""));
    const hint = near.appendChild(Object.assign(document.createElement("span"), { textContent: HINT, hidden: true }));
    near.setAttribute("aria-live", "polite");
    return { whole, zoom, near, words, hint, kept, at: null };
  }

  const clamp = (value, most) => Math.max(0, Math.min(value, most));

  function choose(state, panel, row, column) {
    const found = measure(panel), room = state.zoom.clientWidth / SCALE - found.left - 1;
    const wide = Math.max(1, Math.min(found.columns.length, Math.floor(room / found.width)));
    const tall = Math.min(found.rows.length, ROWS);
    state.at = { ...found, wide, tall, row: clamp(row, found.rows.length - tall),
      column: clamp(column, found.columns.length - wide) };
    draw(state);
  }

  function copy(cell) {
    const made = cell.cloneNode(true);
    made.removeAttribute("data-about");
    made.removeAttribute("data-at");
    made.addEventListener("pointerover", () => { // the drawing knows what a pointer shows at its cell
      cell.dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
      const title = cell.querySelector("title");
      if (title && !made.querySelector("title")) made.prepend(title.cloneNode(true));
    });
    return made;
  }

  function group(parts, x, y) {
    const made = document.createElementNS(NS, "g");
    made.setAttribute("transform", `translate(${x} ${y})`);
    made.append(...parts);
    return made;
  }

  function draw(state) {
    const { panel, axes, rows, columns, cells, heading, left, top, width, height, row, column, wide, tall } = state.at;
    const across = columns.slice(column, column + wide), down = rows.slice(row, row + tall);
    const inside = down.flatMap((_, at) => cells.slice((row + at) * columns.length + column).slice(0, wide));
    const x = -column * width, y = -row * height, up = top - 14; // the room of a heading, which is above the drawing
    const clones = (parts) => parts.map((part) => part.cloneNode(true));
    const svg = document.createElementNS(NS, "svg"), size = [left + wide * width + 2, 14 + tall * height + 2];
    svg.append(group([axes.cloneNode(true)], 0, -up), group(clones(across), x, -up), group(clones(down), 0, y - up),
      group(inside.map(copy), x, y - up));
    for (const [key, value] of [["class", "lc"], ["role", "img"], ["aria-label", `a part of ${heading}`],
      ["viewBox", `0 0 ${size.join(" ")}`], ["width", size[0] * SCALE], ["height", size[1] * SCALE]])
      svg.setAttribute(key, value);
    state.zoom.replaceChildren(svg);
    const ends = (labels) => [...new Set([labels[0], labels.at(-1)].map((label) => label.textContent))].join("..");
    const [first, second] = axes.textContent.split("\\");
    state.words.data = `${heading}: ${first} ${ends(down)}, ${second} ${ends(across)}.`;
    const here = state.whole.querySelector(".here") ?? document.createElementNS(NS, "rect");
    const box = { class: "here", x: left - x, y: top - y, width: wide * width, height: tall * height };
    for (const key in box) here.setAttribute(key, box[key]);
    panel.append(here);
  }

  function begin(state) {
    const wrong = WRONG.map((kind) => state.whole.querySelector(kind)).find(Boolean);
    const cell = wrong ?? state.whole.querySelector(CELL);
    if (cell) center(state, cell, wrong ? 1 : 0);
  }

  // Show the part with a cell, so many rows and columns before it; without a number in the middle.
  function center(state, cell, before) {
    const { columns, cells, width, rows } = measure(cell.parentNode), at = cells.indexOf(cell);
    const [row, column] = [Math.floor(at / columns.length), at % columns.length];
    const half = before ?? Math.floor(Math.min(ROWS, rows.length) / 2);
    const beside = before ?? Math.floor(state.zoom.clientWidth / SCALE / width / 2);
    choose(state, cell.parentNode, row - half, column - beside);
  }

  // One step, or a whole part; beyond the end of a panel the next one in that direction.
  function step(state, [down, across], whole) {
    const { panel, row, column, wide, tall, rows, columns } = state.at;
    const to = [clamp(row + down * (whole ? tall : 1), rows.length - tall),
      clamp(column + across * (whole ? wide : 1), columns.length - wide)];
    if (to[0] !== row || to[1] !== column) return choose(state, panel, ...to);
    const middle = (one) => {
      const box = one.getBoundingClientRect();
      return [box.top + box.height / 2, box.left + box.width / 2];
    };
    const here = middle(panel), panels = [...state.whole.querySelectorAll(PANEL)];
    const ahead = panels.map((one) => [one, middle(one).map((value, at) => value - here[at])])
      .filter(([, [y, x]]) => y * down + x * across > 1)
      .sort(([, one], [, two]) => Math.hypot(...one) - Math.hypot(...two));
    if (ahead.length) choose(state, ahead[0][0], down < 0 ? Infinity : 0, across < 0 ? Infinity : 0);
  }

  function arrange(state, room) {
    const drawing = state.whole.querySelector("svg"), full = state.whole.parentNode.querySelector(":scope > .lc-full");
    const high = state.kept ? 0.9 * innerHeight : Infinity, { below } = drawing.dataset;
    const boxes = [drawing.dataset.beside ?? drawing.getAttribute("viewBox"), ...(below ? [`0 0 ${below}`] : [])];
    const fit = (box) => Math.min(SCALE, room / box.split(" ")[2], high / box.split(" ")[3]);
    const small = !full?.querySelector("input").checked && Math.max(...boxes.map(fit)) < READABLE;
    if (small === state.whole.classList.contains("lc-overview") && (!small || room === state.room)) return;
    state.room = room;
    state.whole.classList.toggle("lc-overview", small);
    state.near.hidden = state.zoom.hidden = !small && !state.kept;
    state.hint.hidden = !small;
    if (small && state.at) choose(state, state.at.panel, state.at.row, state.at.column);
    else if (small) begin(state);
    else if (state.kept) {
      state.zoom.replaceChildren(state.kept.drawn);
      state.words.data = state.kept.words;
    }
    if (!small) state.whole.querySelector(".here")?.remove();
  }

  const states = new Map();
  const frames = new ResizeObserver((entries) => {
    for (const { target, contentRect } of entries) arrange(states.get(target), contentRect.width);
  });
  for (const whole of document.querySelectorAll(".lc-whole, .lc-parts .lc-scroll")) {
    if (!whole.querySelector(CELL)) continue;
    const state = find(whole);
    states.set(whole, state);
    state.near.hidden = state.zoom.hidden = !state.kept;
    frames.observe(whole);
    whole.addEventListener("click", (event) => {
      const cell = event.target.closest(CELL);
      if (cell && whole.classList.contains("lc-overview")) center(state, cell);
    });
    for (const frame of [whole, state.zoom]) {
      frame.addEventListener("keydown", (event) => {
        const way = ARROWS[event.key];
        if (!way || event.ctrlKey || event.metaKey || event.altKey || !whole.classList.contains("lc-overview")) return;
        event.preventDefault();
        step(state, way, event.shiftKey);
      });
    }
    whole.parentNode.querySelector(":scope > .lc-full input")?.addEventListener("change", () =>
      arrange(state, whole.clientWidth));
  }
})();
