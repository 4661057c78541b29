// A map of a text without weights: cells are drawn by a click or a drag, and cleared in the same way;
// by keys arrows lead to a cell, and the space bar draws it. A finger scrolls, and draws by a tap.

import { mounted } from "../kit/mounted.js";
import { applyPalette, bare, element, setPiece } from "../kit/page.js";
import { hasModifier, moveStop, placeAfter, takeKey } from "../kit/roving.js";
import { accepts, tellLater } from "../kit/sync.js";
import { unpack } from "../kit/unpack.js";
import { between, counted } from "./cells.js";

const REST = 500; // ms after the last cell, at which they are asked for

// Not a picture: it holds no weight.
export default mounted("cell_drawing", create, update);

function create(root, sync) {
  const view = { root, sync, drawn: new Set(), pen: null, isHandled: false };
  view.table = element("table");
  view.table.setAttribute("role", "grid");
  view.table.setAttribute("aria-multiselectable", "true");
  view.table.setAttribute("aria-label", "Cells to ask for: rows look at columns");
  view.pointed = element("span", "pointed-at");
  view.pointed.ariaLive = "off"; // the cell's own name is read
  view.count = element("span", "count");
  view.count.setAttribute("role", "status");
  view.clear = element("button", "clear", "Clear");
  view.clear.type = "button";
  view.clear.onclick = () => put(view, new Set());
  const [frame, foot] = [element("div", "frame"), element("p", "foot")];
  frame.append(view.table);
  foot.append(view.count, view.pointed, view.clear);
  root.replaceChildren(frame, foot);
  hear(view);
  const lift = () => (view.pen = null);
  window.addEventListener("pointerup", lift);
  window.addEventListener("pointercancel", lift);
  view.dispose = () => {
    window.removeEventListener("pointerup", lift);
    window.removeEventListener("pointercancel", lift);
  };
  return view;
}

function update(view, { nonce, palette, cells, most, payload }) {
  applyPalette(view.root, palette);
  view.most = most;
  if (nonce !== view.nonce) begin(view, nonce, unpack(payload));
  if (accepts(view.sync, "cells", cells)) show(view, new Set(cells.map(String)));
}

function begin(view, nonce, { header, arrays: [open] }) {
  const { rows, columns } = header;
  const head = element("tr");
  head.append(element("td"), ...columns.map((piece) => named(piece, "col")));
  const line = (piece, row) => {
    const node = element("tr");
    node.append(named(piece, "row"), ...columns.map((_, column) => cellOf(view, row, column)));
    return node;
  };
  Object.assign(view, { nonce, rows, columns, open, nodes: [], drawn: new Set(), pen: null });
  view.table.replaceChildren(head, ...rows.map(line));
  const first = view.nodes.flat().find((node) => node.ariaDisabled !== "true") ?? view.nodes[0]?.[0];
  if (first) first.tabIndex = 0;
  point(view, null);
}

function named(piece, scope) {
  const [node, word] = [element("th"), element("span")];
  node.scope = scope;
  setPiece(word, piece);
  node.title = bare(piece);
  node.append(word);
  return node;
}

function cellOf(view, row, column) {
  const node = element("td", "cell");
  node.setAttribute("role", "gridcell");
  node.ariaLabel = nameOf(view, row, column);
  node.tabIndex = -1;
  node.dataset.cell = `${row},${column}`;
  if (!view.open[row * view.columns.length + column]) node.ariaDisabled = "true";
  (view.nodes[row] ??= []).push(node);
  return node;
}

function nameOf({ rows, columns }, row, column) {
  return `${bare(rows[row])} → ${bare(columns[column])}`;
}

function hear(view) {
  const { table } = view;
  table.onpointerdown = (event) => {
    const at = placeOf(event);
    view.isHandled = Boolean(at) && event.pointerType !== "touch" && !event.button;
    if (!view.isHandled) return;
    view.pen = !view.drawn.has(String(at));
    view.last = at;
    stop(view, at);
    draw(view, [at], view.pen);
  };
  table.onpointerover = (event) => {
    const at = placeOf(event);
    point(view, at);
    if (view.pen === null || !at || !event.buttons) return;
    draw(view, between(view.last, at), view.pen);
    view.last = at;
  };
  table.onpointerleave = () => point(view, null);
  table.onclick = (event) => {
    const at = placeOf(event);
    if (at && !view.isHandled) toggle(view, at);
    view.isHandled = false;
  };
  table.onkeydown = (event) => {
    const at = placeOf(event);
    if (at && !hasModifier(event)) press(view, event, at);
  };
  table.addEventListener("focusin", (event) => point(view, placeOf(event)));
}

function placeOf({ target }) {
  return target.closest(".cell")?.dataset.cell.split(",").map(Number) ?? null;
}

function press(view, event, [row, column]) {
  if (event.key === " " || event.key === "Enter") {
    takeKey(event);
    toggle(view, [row, column]);
    return;
  }
  const isUpright = event.key === "ArrowUp" || event.key === "ArrowDown";
  const [at, n] = isUpright ? [row, view.rows.length] : [column, view.columns.length];
  const to = placeAfter(event.key, at, n, isUpright ? "column" : "row");
  if (to === undefined) return;
  takeKey(event);
  stop(view, isUpright ? [to, column] : [row, to]);
}

// The one stop for Tab.
function stop(view, [row, column]) {
  moveStop(view.table.querySelector("[tabindex='0']"), view.nodes[row][column]);
}

function toggle(view, at) {
  stop(view, at);
  draw(view, [at], !view.drawn.has(String(at)));
}

function draw(view, places, isDrawn) {
  const cells = new Set(view.drawn);
  for (const [row, column] of places) {
    if (!isDrawn) cells.delete(`${row},${column}`);
    else if (view.open[row * view.columns.length + column] && cells.size < view.most) cells.add(`${row},${column}`);
  }
  if (cells.size !== view.drawn.size) put(view, cells);
}

function put(view, cells) {
  show(view, cells);
  tellLater(view.sync, "cells", [...cells].map((cell) => cell.split(",").map(Number)), REST);
}

function show(view, cells) {
  view.drawn = cells;
  for (const node of view.nodes.flat()) node.ariaSelected = String(cells.has(node.dataset.cell));
  view.count.textContent = cells.size ? counted(cells.size, view.most) : "Click, tap or drag over cells";
  view.clear.hidden = !cells.size;
}

function point(view, at) {
  view.pointed.textContent = at ? nameOf(view, ...at) : "";
}
