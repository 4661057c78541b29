// A head map in words: the sentence above it, labels that are cut, and the legend.

import { ratio } from "../kit/canvas.js";
import { element, setPiece, short, within } from "../kit/page.js";
import { OFF, say, saidOf, textOf, unsaid } from "../kit/sentence.js";
import { sayReading } from "../kit/reading.js";
import { lawOf } from "../kit/shade.js";
import { marker } from "../kit/terms.js";
import { boxOf, cellSize, isCut } from "./frame.js";
import { isLine } from "./paint.js";
import { inMap, isExact, isSigned, isSmall, mostOf, pinsOf, strongestAlong, valueAt, wholeWindow } from "./values.js";

// What is pointed at, by pointer or keys; null where nothing is.
export function pointedAt({ hover, cursor }) {
  return hover ?? (cursor && { axis: "cell", row: cursor[0], column: cursor[1] });
}

// Says it, and shows a label in full that is cut.
export function read(view) {
  if (!view.frame) return;
  say(view.sentence, said(view));
  const { tip, map, frame } = view;
  const at = pointedAt(view);
  const piece = at && at.axis !== "cell" && map.header[at.axis][at.row + at.column + 1];
  tip.hidden = !piece || !isCut(view.marks.getContext("2d"), frame, piece, at.axis);
  if (tip.hidden) return;
  setPiece(tip, piece);
  const [row, column] = inMap(map, at.row, at.column);
  const box = boxOf(frame, view.window, [row, row], [column, column]);
  const right = Math.max(0, frame.width - tip.offsetWidth);
  const [x, y] = at.axis === "rows"
    ? [4, Math.min(box.y + box.height + 8, frame.height - tip.offsetHeight)]
    : [Math.min(right, box.x + box.width + 8), frame.plot.y + frame.plot.height];
  Object.assign(tip.style, { left: `${x}px`, top: `${y}px` });
}

// Of a cell that is pointed at; else of the strongest one of a token that is; else of the chosen
// cell; else where the row and the column that were pinned last meet; else of the strongest one of
// the token that was pinned last, or of all.
function said(view) {
  const { map, pointed, selected } = view;
  const axis = pointed?.isCell ? "cell" : "token";
  const at = pointedAt(view) ?? (pointed && { axis, row: pointed.rows, column: pointed.columns });
  if (at?.axis === "cell") return ofCell(view, [at.row, at.column], "Pointed at", true);
  const own = at && strongestAlong(map, at.row, at.column);
  if (own) return saying(view, own, "Pointed at: its strongest cell", true);
  if (selected && String(inMap(map, ...selected)) === String(selected)) {
    return ofCell(view, selected, "Chosen");
  }
  const pins = pinsOf(view);
  const [row, column] = [pins.findLast((each) => each.row >= 0), pins.findLast((each) => each.column >= 0)];
  if (row && column) return ofCell(view, [row.row, column.column], "Pinned: the cell of both");
  const pin = pins.at(-1);
  const held = pin && strongestAlong(map, pin.row, pin.column);
  if (held) return saying(view, held, "Pinned: its strongest cell");
  if (!map.strongest) return saidOf(null, null, map.header.masked ? "Every cell is masked." : "No value is a finite number.");
  return saying(view, map.strongest, `The strongest cell of this ${map.header.lens.per_head ? "head" : "layer"}`);
}

function ofCell(view, place, why, isPointed) {
  const found = valueAt(view.map, view.window, ...place);
  const n = [found.rows, found.columns].map(([first, last]) => last - first + 1);
  if (Math.max(...n) === 1) return saying(view, found, why, isPointed);
  const where = `rows ${span(found.rows)}, columns ${span(found.columns)}`;
  const block = `${why}: the ${mostOf(view.map)} of ${n[0]} × ${n[1]} cells, ${where}`;
  return saying(view, found, block, isPointed);
}

function saying({ map: { header }, isOff }, { row, column, value }, why, isPointed) {
  const { layer, head, rows, columns, sides } = header;
  const at = [row, column];
  const cell = { row: rows[row], column: columns[column], layer, head, value, at, sides };
  return saidOf(header.sentence, cell, isOff ? OFF : why, isPointed);
}

function span([first, last]) {
  return first === last ? `${first}` : `${first}–${last}`;
}

// The cell at the cursor, for those who do not see it.
export function describe(view, row, column) {
  view.cell.textContent = textOf(ofCell(view, [row, column], ""));
  view.cell.setAttribute("aria-colindex", column + 1);
  view.line.setAttribute("aria-rowindex", row + 1);
  view.cell.setAttribute("aria-selected", String(String([row, column]) === String(view.selected)));
}

export function explain(view) {
  const { header } = view.map;
  const [low, high] = header.bounds;
  const signed = isSigned(view.map);
  const middle = signed ? (low + high) / 2 : low + (high - low) / 4; // what the middle shade means
  const scale = element("span", "scale");
  const ticks = element("span", "ticks");
  for (const value of [low, middle, high]) ticks.append(element("span", "", tick(value)));
  scale.append(element("span", "ramp"), ticks);
  const mark = marker(view.legend, { only: [...unsaid(header), "mask"] });
  const measure = element("span");
  measure.append(...mark(within(header.lens.title)));
  const parts = [scale, measure];
  if (header.masked) {
    const masked = element("span");
    masked.append(element("span", "masked"), ...mark(" masked"));
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
  // The titles of the axes say as much on a wall and in a figure, where room is short.
  const axes = "rows are words that look, columns are words that are looked at";
  sayReading(view.reading, [signed ? "" : lawOf(view.palette)], [axes]);
  view.legend.replaceChildren(...parts, view.reading.node, view.hint);
}

function tick(value) {
  if (value === 0.25) return "¼";
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
  const dense = Math.min(width, height) * ratio() < 1;
  const more = view.asks ? "zoom in for exact values" : "exact values are not included in this file";
  view.pooled.textContent = !exact
    ? `each cell is the ${mostOf(map)} of ${down} × ${across}: ${more}`
    : dense ? `a pixel shows the ${mostOf(map)} of its cells` : "";
  if (view.path) {
    const shape = isLine(frame, shown) ? "line" : "dots";
    view.pathSign.className = shape;
    view.pathName.textContent = ` ${shape}: each row's largest ${within(map.header.lens.title)}`;
  }
  const { x, y, width: plotWidth, height: plotHeight } = frame.plot;
  Object.assign(root.dataset, {
    id: map.header.id,
    window: String(shown),
    exact: String(exact),
    plot: String([x, y, plotWidth, plotHeight]),
  });
}
