// Lines between rows and columns: which there are, and how they become pixels.

import { channels } from "../kit/shade.js";
import { unpack } from "../kit/unpack.js";

export const MAX_LINES = 6000; // of a head: the strongest; more could not be told apart
export const MAX_POINTED = 240; // of a token, over all heads that are shown: what a frame has time for
const THIN = 0.7; // CSS pixels of a line of weight 0, and ...
const THICKER = 1.5; // ... how much thicker one of weight 1 is
const UNSEEN = 1e-3; // share of the scale below which a line would not show

// What pack_head_view packed; `columns` and `rest` are null where every value was sent.
export function openMap(payload) {
  const { header, arrays } = unpack(payload);
  const [columns, values, rest] = arrays.length === 1 ? [null, arrays[0], null] : arrays;
  const [nHeads, nRows, width] = values.shape;
  return { header, columns, values, rest, nHeads, nRows, width, nColumns: header.columns.length };
}

// A token's id, "q5" or "k3", taken apart.
export function openToken(id) {
  return { isRow: id[0] === "q", place: Number(id.slice(1)) };
}

// see(column, value) for every cell of a row that was sent; masked cells have no value.
export function eachOfRow({ values, columns, nRows, width }, head, row, see) {
  const start = (head * nRows + row) * width;
  for (let i = start; i < start + width; i++) {
    if (!Number.isNaN(values[i])) see(columns ? columns[i] : i - start, values[i]);
  }
}

// A cell's value: NaN where it is masked, undefined where it was not sent.
export function valueAt({ values, columns, nRows, width }, head, row, column) {
  const start = (head * nRows + row) * width;
  const at = columns ? columns.subarray(start, start + width).indexOf(column) : column;
  return at < 0 ? undefined : values[start + at];
}

// see(row, value) for every cell of a column that was sent.
function eachOfColumn(map, head, column, see) {
  for (let row = 0; row < map.nRows; row++) {
    const value = valueAt(map, head, row, column) ?? NaN;
    if (!Number.isNaN(value)) see(row, value);
  }
}

// Whom a token is joined to by a head: [{ place, value }], the largest size first.
export function partnersOf(map, head, id) {
  const { isRow, place } = openToken(id);
  const found = [];
  const see = (other, value) => value && found.push({ place: other, value });
  (isRow ? eachOfRow : eachOfColumn)(map, head, place, see);
  return found.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}

// The strongest `perRow` lines of each row; `shown` and `total` are sums of sizes.
export function linesOf(map, head, perRow) {
  const lines = { rows: [], columns: [], values: [], shown: 0, total: 0 };
  for (let row = 0; row < map.nRows; row++) {
    const least = leastOfRow(map, head, row, perRow);
    let left = perRow;
    if (map.rest) lines.total += map.rest[head * map.nRows + row];
    eachOfRow(map, head, row, (column, value) => {
      const size = Math.abs(value);
      lines.total += size;
      if (size === 0 || size < least || left-- <= 0) return;
      addLine(lines, row, column, value);
    });
  }
  return lines.values.length > MAX_LINES ? strongestLines(lines) : lines;
}

function addLine(lines, row, column, value) {
  lines.rows.push(row);
  lines.columns.push(column);
  lines.values.push(value);
  lines.shown += Math.abs(value);
}

function leastOfRow({ values, nRows, width }, head, row, n) {
  if (n >= width) return 0;
  const start = (head * nRows + row) * width;
  const sizes = values.slice(start, start + width).map((value) => Math.abs(value) || 0);
  return sizes.sort()[width - n];
}

function strongestLines({ rows, columns, values, total }) {
  const least = Float64Array.from(values, Math.abs).sort()[values.length - MAX_LINES];
  const lines = { rows: [], columns: [], values: [], shown: 0, total, capped: true };
  values.forEach((value, i) => {
    if (Math.abs(value) >= least) addLine(lines, rows[i], columns[i], value);
  });
  return lines;
}

// The strongest lines of some tokens, at most `each` per token; each line once.
export function linesAt(map, head, ids, each) {
  const lines = { rows: [], columns: [], values: [], shown: 0 };
  const seen = new Set();
  for (const id of ids) {
    const { isRow, place } = openToken(id);
    for (const { place: other, value } of partnersOf(map, head, id).slice(0, each)) {
      const [row, column] = isRow ? [place, other] : [other, place];
      const cell = row * map.nColumns + column;
      if (!seen.has(cell)) addLine(lines, row, column, value);
      seen.add(cell);
    }
  }
  return lines;
}

// A height's way from 0 to 1 over so many pixels, level at both ends, and its slope.
function curveOf(width) {
  const heights = new Float32Array(width);
  const slopes = new Float32Array(width);
  for (let x = 0; x < width; x++) {
    const t = (x + 0.5) / width;
    heights[x] = t * t * (3 - 2 * t);
    slopes[x] = (6 * t * (1 - t)) / width;
  }
  return { heights, slopes };
}

// How a line of a size from 0 to 1 looks: its width in px, and how opaque it is.
export function lookOf(size) {
  return { thick: THIN + THICKER * size, shade: Math.sqrt(size) };
}

// What lines are painted on: pixels whose colours are multiplied by their opacity, [r, g, b, a] in
// 0..1, column after column. margin: pixels above and below what is seen, for what moves into it.
// times: how many times the usual thickness lines have.
export function createPaint(width, seen, ratio, margin, times = 1) {
  const height = seen + 2 * margin;
  const pixels = new Float32Array(4 * width * height);
  const image = new ImageData(width, height);
  return { width, height, ratio, margin, times, pixels, image, ...curveOf(width) };
}

// Lines of one colour over what is there. place: { pitch, top, shift } in device pixels: of the
// rows, of what has scrolled away, and how much below the middle of its row a line runs.
export function paintLines(paint, lines, colour, bound, { pitch, top, shift }) {
  const ink = channels(colour).map((channel) => channel / 255);
  const y = (place) => (place + 0.5) * pitch - top - 0.5 + shift + paint.margin;
  const isOut = (end) => end < -pitch / 2 || end > paint.height + pitch / 2;
  for (let i = 0; i < lines.values.length; i++) {
    const size = Math.min(1, Math.abs(lines.values[i]) / bound);
    if (size < UNSEEN) continue;
    const [from, to] = [y(lines.rows[i]), y(lines.columns[i])];
    if (isOut(from) && isOut(to)) continue; // it would only cross what is seen
    const { thick, shade } = lookOf(size);
    const stroke = { from, to, ink, shade, half: (thick * paint.times * paint.ratio) / 2, dotted: lines.values[i] < 0 };
    paint.strokes?.push(stroke);
    strokeLine(paint, stroke);
  }
}

// One curve, anti-aliased by the distance of each pixel's centre from its tangent.
function strokeLine(paint, { from, to, ink: [red, green, blue], shade, half, dotted }) {
  const { width, height, ratio, pixels, heights, slopes } = paint;
  const rise = to - from;
  const most = shade * Math.min(1, 2 * half);
  for (let x = 0; x < width; x++) {
    if (dotted && x % (7 * ratio) >= 3 * ratio) continue;
    const centre = from + rise * heights[x];
    const slope = rise * slopes[x];
    const across = 1 / Math.sqrt(1 + slope * slope);
    const reach = (half + 0.5) / across;
    const last = Math.min(height - 1, Math.floor(centre + reach));
    for (let y = Math.max(0, Math.ceil(centre - reach)); y <= last; y++) {
      const cover = Math.min(most, shade * (half + 0.5 - Math.abs(y - centre) * across));
      const at = 4 * (x * height + y);
      const left = 1 - cover;
      pixels[at] = pixels[at] * left + red * cover;
      pixels[at + 1] = pixels[at + 1] * left + green * cover;
      pixels[at + 2] = pixels[at + 2] * left + blue * cover;
      pixels[at + 3] = pixels[at + 3] * left + cover;
    }
  }
}

// What was painted as an image, whose colours are not multiplied; the paint is then empty again.
export function developed({ width, height, pixels, image }) {
  const target = new Uint32Array(image.data.buffer).fill(0);
  for (let x = 0, at = 0; x < width; x++) {
    for (let y = 0; y < height; y++, at += 4) {
      const opacity = pixels[at + 3];
      if (opacity === 0) continue;
      const full = 255 / opacity;
      const red = pixels[at] * full + 0.5;
      const green = pixels[at + 1] * full + 0.5;
      const blue = pixels[at + 2] * full + 0.5;
      const alpha = 255 * opacity + 0.5;
      target[y * width + x] = (alpha << 24) | (blue << 16) | (green << 8) | red;
    }
  }
  pixels.fill(0);
  return image;
}
