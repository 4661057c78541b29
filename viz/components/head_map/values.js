// What viz/components/head_map/head_map.py packs, read cell by cell, and the window that is shown of it.
// A window is [first row, row after the last, first column, column after the last], as a region is.

import { unpack } from "../kit/unpack.js";

const LARGEST_REGION = 256; // rows and columns: MAX_REGION in head_map.py
const FEWEST_CELLS = 4; // of a window's side

// ownScale: whether the scale ends at the map's own largest value; a signed one always does.
export function readMap(payload, ownScale = false) {
  const { header, arrays } = unpack(payload);
  const [values, largest, places, part] = arrays;
  if (ownScale && header.lens.scale !== "signed") {
    const most = values.reduce((found, value) => (value > found && value < Infinity ? value : found), 0);
    header.bounds = [header.bounds[0], most || header.bounds[1]];
  }
  const sizes = { nRows: header.rows.length, nColumns: header.columns.length };
  return { header, values, largest, places, part, strongest: header.strongest, ...sizes };
}

export function wholeWindow({ nRows, nColumns }) {
  return [0, nRows, 0, nColumns];
}

// Whether values lie on both sides of 0: then a block shows the one furthest from it.
export function isSigned({ header }) {
  return header.lens.scale === "signed";
}

export function mostOf(map) {
  return isSigned(map) ? "farthest from 0" : "largest";
}

export function isPooled({ header }) {
  return Math.max(...header.block) > 1;
}

export function isExact(map, window) {
  return !isPooled(map) || covers(map.header.region, window);
}

export function covers([top, bottom, left, right], window) {
  return top <= window[0] && window[1] <= bottom && left <= window[2] && window[3] <= right;
}

// Whether a window is small enough for the server to send its exact values.
export function isSmall([top, bottom, left, right]) {
  return bottom - top <= LARGEST_REGION && right - left <= LARGEST_REGION;
}

// Where a window's values stand: an array with its first row and column, and the cells of a value.
export function sourceOf(map, window) {
  const { header, values, part, nColumns } = map;
  if (!isPooled(map)) return { values, stride: nColumns, top: 0, left: 0, block: [1, 1] };
  if (!isExact(map, window)) {
    return { values, stride: values.shape[1], top: 0, left: 0, block: header.block };
  }
  const [top, , left] = header.region;
  return { values: part, stride: part.shape[1], top, left, block: [1, 1] };
}

// The value shown at a cell and the cell that has it: another one of its block where values are
// pooled. rows, columns: the first and the last that the value stands for. NaN: masked.
export function valueAt(map, window, row, column) {
  const { values, stride, top, left, block } = sourceOf(map, window);
  const [y, x] = [Math.floor(row / block[0]), Math.floor(column / block[1])];
  const i = (y - top) * stride + x - left;
  const [first, start] = [y * block[0], x * block[1]];
  const place = Math.max(...block) > 1 ? map.places[i] : 0;
  return {
    value: values[i],
    row: first + Math.floor(place / block[1]),
    column: start + (place % block[1]),
    rows: [first, Math.min(map.nRows, first + block[0]) - 1],
    columns: [start, Math.min(map.nColumns, start + block[1]) - 1],
  };
}

// The strongest cell of a row, or of a column where row is -1; null where all are masked, or where
// values are pooled, and so are of other rows too. In a column, rows that may look at one key only
// count where there is no other: their 1 is no finding.
export function strongestAlong(map, row, column) {
  if (isPooled(map)) return null;
  const n = row < 0 ? map.nRows : map.nColumns;
  const whole = wholeWindow(map);
  const cells = Array.from({ length: n }, (_, i) =>
    row < 0 ? valueAt(map, whole, i, column) : valueAt(map, whole, row, i),
  );
  const isStronger = (a, b) => !(Math.abs(b?.value) >= Math.abs(a.value));
  const allowed = cells.filter(({ value }) => !Number.isNaN(value));
  const free = row < 0 ? allowed.filter((cell) => hasChoice(map, cell.row)) : allowed;
  const strongest = (best, cell) => (isStronger(cell, best) ? cell : best);
  return (free.length ? free : allowed).reduce(strongest, null);
}

function hasChoice({ values, nColumns }, row) {
  const keys = values.subarray(row * nColumns, (row + 1) * nColumns);
  return keys.filter((value) => !Number.isNaN(value)).length > 1;
}

// The nearest cell that the map has.
export function inMap({ nRows, nColumns }, row, column) {
  return [Math.min(nRows - 1, Math.max(0, row)), Math.min(nColumns - 1, Math.max(0, column))];
}

// The nearest window that the map has; of a pooled map it begins and ends with a block.
export function fitWindow(map, [top, bottom, left, right]) {
  const [down, across] = map.header.block;
  return [
    ...fitSide(top, bottom, map.nRows, down),
    ...fitSide(left, right, map.nColumns, across),
  ];
}

function fitSide(first, end, n, block) {
  const size = Math.min(n, Math.max(FEWEST_CELLS, Math.round(end - first)));
  const start = Math.min(n - size, Math.max(0, Math.round(first)));
  const from = Math.floor(start / block) * block;
  let to = Math.min(n, Math.ceil((start + size) / block) * block);
  while (size <= LARGEST_REGION && to - from > LARGEST_REGION) to -= block;
  return [from, to];
}

// The largest region around a window: moving a little within it needs no further values.
export function regionAround(map, [top, bottom, left, right]) {
  return [...regionSide(top, bottom, map.nRows), ...regionSide(left, right, map.nColumns)];
}

function regionSide(first, end, n) {
  const size = Math.min(n, LARGEST_REGION);
  const start = Math.round((first + end - size) / 2);
  const from = Math.min(n - size, Math.max(0, start));
  return [from, from + size];
}

// What is pinned, as far as the map has it: { row, column }, -1 for the one that it is not.
export function pinsOf({ pins, map: { nRows, nColumns } }) {
  return pins
    .map((pin) => [pin[0] === "q", Number(pin.slice(1))])
    .filter(([isRow, place]) => place < (isRow ? nRows : nColumns))
    .map(([isRow, place]) => (isRow ? { row: place, column: -1 } : { row: -1, column: place }));
}
