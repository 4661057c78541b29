// What is said of the picture: the sentence above it, and the legend.

import { sayReading } from "../kit/reading.js";
import { isOnStage } from "../kit/room.js";
import { OFF, saidOf, textOf, unsaid } from "../kit/sentence.js";
import { marker } from "../kit/terms.js";
import { MAX_LINES, MAX_POINTED, eachOfRow, openToken, valueAt } from "./lines.js";
import { aimedOf } from "./heads.js";
import { linesShown } from "./picture.js";
import { strongestAt } from "./tokens.js";

// The largest of the shown heads' lines.
export function strongestOf({ map }, heads) {
  map.strongest ??= new Map();
  for (const head of heads) {
    if (!map.strongest.has(head)) map.strongest.set(head, strongestLine(map, head));
  }
  const found = heads.map((head) => map.strongest.get(head)).filter(Boolean);
  return found.reduce((a, b) => (Math.abs(b.value) > Math.abs(a?.value ?? 0) ? b : a), null);
}

// Rows that may attend to one key only are left out: their 1.0 is no finding.
function strongestLine(map, head) {
  let best = null;
  for (let row = 0; row < map.nRows; row++) {
    let [column, value, n] = [-1, 0, 0];
    eachOfRow(map, head, row, (other, here) => {
      n += 1;
      if (Math.abs(here) > Math.abs(value)) [column, value] = [other, here];
    });
    const isFree = n > 1 || map.nColumns === 1;
    if (isFree && Math.abs(value) > Math.abs(best?.value ?? 0)) best = { head, row, column, value };
  }
  return best;
}

// Of a pinned and a pointed token on two sides: their cell. Else the strongest line of the token
// that is pointed at; else where the row and the column that were pinned last meet; else the
// strongest line of the token that was pinned last, or of all.
export function said(view, heads) {
  const { pins, hovered, linked } = view;
  const [pointed, pin] = [hovered ?? linked[0], pins.at(-1)];
  if (!heads.length) return saidOf(null, null, "No head is shown: choose one.");
  const [aimed, row, column] = (view.twin && aimedOf(view, heads)) ?? [];
  const line = aimed !== undefined && cellAt(view.map, [aimed], `q${row}`, `k${column}`);
  if (line) return saying(view, line, "Pointed at", true);
  const cell = pin && pointed && cellAt(view.map, heads, pin, pointed);
  if (cell) return saying(view, cell, "Pinned and pointed at", true);
  if (pointed) return saying(view, lineOf(view.map, heads, pointed), "Pointed at: its strongest line", true);
  const held = heldCell(view, heads);
  if (held) return saying(view, held, "Pinned: the line between both", true);
  if (pin) return saying(view, lineOf(view.map, heads, pin), "Pinned: its strongest line", true);
  return saying(view, view.strongest, `The strongest line of ${whichOf(view.map, heads)}`);
}

function whichOf({ header }, heads) {
  if (!header.per_head) return "this layer";
  return heads.length > 1 ? "these heads" : "this head";
}

function saying({ map: { header }, off }, cell, why, isPointed = false) {
  if (!cell) return saidOf(null, null, "No line here.");
  const { row, column } = cell;
  const { rows, columns, layer, sides } = header;
  const pieces = { row: rows[row], column: columns[column], layer, at: [row, column], sides };
  return saidOf(header.sentence, { ...cell, ...pieces }, off.includes(cell.head) ? OFF : why, isPointed);
}

// Where two tokens of different sides meet: the head that has most there; null where none was sent.
function cellAt(map, heads, one, other) {
  const [row, column] = placesOf(one, other);
  if (row === undefined || column === undefined) return null;
  const cells = heads.map((head) => ({ head, row, column, value: valueAt(map, head, row, column) }));
  const sent = cells.filter(({ value }) => value !== undefined);
  const size = ({ value }) => (Number.isNaN(value) ? -1 : Math.abs(value));
  return sent.reduce((a, b) => (a && size(a) >= size(b) ? a : b), null);
}

// Where the row and the column that were pinned last meet; null where only one side is pinned.
export function heldCell({ pins, map }, heads) {
  const [row, column] = ["q", "k"].map((letter) => pins.findLast((pin) => pin.startsWith(letter)));
  return row && column ? cellAt(map, heads, row, column) : null;
}

function placesOf(...ids) {
  const tokens = ids.map(openToken);
  return [true, false].map((side) => tokens.find(({ isRow }) => isRow === side)?.place);
}

function lineOf(map, heads, id) {
  const [first] = strongestAt(map, heads, id);
  if (!first) return null;
  const [row, column] = placesOf(id, first.id);
  return { ...first, row, column };
}

// The picture for those who do not see it.
export function describe(view, heads) {
  const { header, nRows, nColumns } = view.map;
  const numbers = heads.map((head) => `H${head}${view.off.includes(head) ? " (off)" : ""}`).join(", ");
  const which = header.per_head ? `L${header.layer} ${numbers || "no head"}` : `L${header.layer}`;
  const start = `${header.kind} attention, ${which}: ${nRows} queries, ${nColumns} keys.`;
  return view.strongest ? `${start} Strongest: ${textOf(saying(view, view.strongest, ""))}` : start;
}

// How much of a head's weight is on tokens that are left out.
export function hiddenBy({ header }, head) {
  return header.hidden?.[header.per_head ? head : 0] ?? "";
}

export function explain(view, heads) {
  const { header, rest } = view.map;
  const measure = header.lens.title.toLowerCase();
  const { unit } = header;
  const lines = [
    `a line leads from a ${unit} to one that it looks at: the stronger the line, the more it looks`,
    isOnStage() ? "" : `opacity: square root of the ${measure}; width: the ${measure}`,
    header.lens.scale === "signed" ? "dotted: below 0" : "",
    heads.length ? drawnOf(view, heads) : "",
    heads.some((head) => view.off.includes(head)) ? "gray: a head that is off" : "",
    ...(heads.length > 1 ? heads.map((head) => hiddenBy(view.map, head)) : []).map((text, i) => text && `H${heads[i]}: ${text}`),
    rest ? `showing the ${view.map.width} strongest keys per ${unit}` : "",
  ];
  const pointed = Math.floor(MAX_POINTED / Math.max(1, heads.length));
  if (pointed < view.map.width) lines.push(`hovering shows at most ${pointed} lines per head`);
  if (!isOnStage() && Math.max(view.map.nRows, view.map.nColumns) * view.pitch > view.height) {
    lines.push("lines are hidden when both ends are scrolled out of view");
  }
  const mark = marker(view.root, { only: unsaid(header) });
  const keys = header.per_head ? "digits toggle heads, Shift shows only one · " : "";
  const uses = [`click pins a ${unit}, Escape releases it`, `${keys}arrow keys move`];
  sayReading(view.reading, [...lines, ...header.notes].map((line) => mark(line)), uses);
}

// "the 5 strongest of 128 keys per word: 87 % of the attention"
function drawnOf(view, heads) {
  const { nColumns, width, header } = view.map;
  const perRow = Number(view.controls.lines.value);
  const all = heads.map((head) => linesShown(view.map, head, perRow));
  const [lines, total] = ["shown", "total"].map((name) => all.reduce((sum, one) => sum + one[name], 0));
  const isAll = perRow >= width && width === nColumns;
  const which = isAll ? "all lines" : `the ${perRow} strongest of ${nColumns} keys per ${header.unit}`;
  const capped = all.some((one) => one.capped) ? `, at most ${MAX_LINES} per head` : "";
  if (isAll && !capped) return which;
  const share = total ? (100 * lines) / total : 100;
  const percent = share > 99 && share < 100 ? share.toFixed(1) : Math.round(share);
  const whole = header.lens.scale === "share" ? "attention" : "sum of sizes";
  return `${which}${capped}: ${percent} % of the ${whole}`;
}
