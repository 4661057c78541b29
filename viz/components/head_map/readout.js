// A head map in words: the readout beside a cell, what is spoken of it, and the legend.

import { decimals, element, setPiece, short } from "../kit/page.js";
import { boxOf, cellSize, isCut } from "./frame.js";
import { isLine } from "./paint.js";
import { inMap, isExact, isSmall, mostOf, valueAt, wholeWindow } from "./values.js";

export function showTip(view, place) {
  const { tip, map, frame } = view;
  tip.replaceChildren();
  tip.hidden = !place;
  if (!place) return;
  if (place.axis === "cell") fillTip(view, place);
  else {
    const piece = map.header[place.axis][place.row + place.column + 1];
    tip.hidden = !isCut(view.marks.getContext("2d"), frame, piece, place.axis);
    tip.append(pieceNode(piece));
  }
  const [row, column] = inMap(map, place.row, place.column);
  const box = boxOf(frame, view.window, [row, row], [column, column]);
  const x = place.axis === "rows" ? 4 : box.x + box.width + 8;
  const y = place.axis === "columns" ? frame.plot.y + frame.plot.height : box.y + box.height + 8;
  const right = frame.width - tip.offsetWidth;
  tip.style.left = `${Math.max(0, x <= right ? x : Math.min(right, box.x - tip.offsetWidth - 8))}px`;
  const over = y + tip.offsetHeight > frame.height;
  tip.style.top = `${over ? Math.max(0, box.y - tip.offsetHeight - 8) : y}px`;
}

function fillTip(view, { row, column }) {
  const { map, tip } = view;
  const found = valueAt(map, view.window, row, column);
  const line = element("div");
  line.append(pieceNode(map.header.rows[found.row]), " → ");
  line.append(pieceNode(map.header.columns[found.column]), `: ${read(found)}`);
  const n = [found.rows, found.columns].map(([first, last]) => last - first + 1);
  if (Math.max(...n) === 1) {
    tip.append(line);
    return;
  }
  const block = element("div", "", `${mostOf(map)} of ${n[0]} × ${n[1]}: ${read(found)}`);
  const where = `rows ${span(found.rows)}, columns ${span(found.columns)}`;
  tip.append(block, ...(Number.isNaN(found.value) ? [] : [line]), element("div", "dim", where));
}

function span([first, last]) {
  return first === last ? `${first}` : `${first}–${last}`;
}

function read({ value }) {
  return Number.isNaN(value) ? "masked" : decimals(value);
}

function pieceNode(piece) {
  const node = element("span", "piece");
  setPiece(node, piece);
  return node;
}

// The cell at the cursor, for those who do not see it.
export function describe(view, row, column) {
  const { map } = view;
  const found = valueAt(map, view.window, row, column);
  const { rows, columns } = map.header;
  const size = (found.rows[1] - found.rows[0] + 1) * (found.columns[1] - found.columns[0] + 1);
  const pooled = size > 1 ? `, ${mostOf(map)} of ${size} cells` : "";
  const text = `${rows[found.row][0]} → ${columns[found.column][0]}: ${read(found)}${pooled}`;
  view.cell.textContent = text;
  view.cell.setAttribute("aria-colindex", column + 1);
  view.line.setAttribute("aria-rowindex", row + 1);
  view.cell.setAttribute("aria-selected", String(String([row, column]) === String(view.selected)));
  return text;
}

export function explain(view) {
  const { header } = view.map;
  const [low, high] = header.bounds;
  const middle = (low + high) / 2;
  const scale = element("span", "scale");
  const ticks = element("span", "ticks");
  for (const value of [low, middle, high]) ticks.append(element("span", "", tick(value)));
  scale.append(element("span", "ramp"), ticks);
  const parts = [scale, element("span", "", sentenceCase(header.lens.title))];
  if (header.masked) {
    const masked = element("span");
    masked.append(element("span", "masked"), " masked");
    parts.push(masked);
  }
  if (view.path) {
    const line = element("span");
    view.pathName = element("span");
    view.pathSign = element("span");
    line.append(view.pathSign, view.pathName);
    parts.push(line);
  }
  view.pooled = element("span");
  parts.push(view.pooled);
  view.legend.replaceChildren(...parts, view.hint);
}

function sentenceCase(title) {
  return title.charAt(0).toLowerCase() + title.slice(1);
}

function tick(value) {
  if (value === 0.5) return "½";
  return short(value);
}

// What the window shows, in words and for tests.
export function tellState(view) {
  const { map, window: shown, frame, root } = view;
  const whole = String(shown) === String(wholeWindow(map));
  const exact = isExact(map, shown);
  view.back.hidden = whole;
  view.waiting.hidden = exact || !view.asks || !isSmall(shown);
  const [down, across] = map.header.block;
  const { width, height } = cellSize(frame, shown);
  const dense = Math.min(width, height) * window.devicePixelRatio < 1;
  const more = view.asks ? "zoom in for exact values" : "exact values are not included in this file";
  view.pooled.textContent = !exact
    ? `each cell is the ${mostOf(map)} of ${down} × ${across}: ${more}`
    : dense ? `a pixel shows the ${mostOf(map)} of its cells` : "";
  if (view.path) {
    const shape = isLine(frame, shown) ? "line" : "dots";
    view.pathSign.className = shape;
    view.pathName.textContent = ` ${shape}: each row's largest ${sentenceCase(map.header.lens.title)}`;
  }
  const { x, y, width: plotWidth, height: plotHeight } = frame.plot;
  Object.assign(root.dataset, {
    id: map.header.id,
    window: String(shown),
    exact: String(exact),
    plot: String([x, y, plotWidth, plotHeight]),
  });
}
