// The cells of a head map, and what is drawn over them: path, marks and outlines.

import { createImage, devicePixels, emptied, ratio } from "../kit/canvas.js";
import { channels, colourAt, pixel, spans } from "../kit/shade.js";
import { boxOf, cellSize } from "./frame.js";
import { isSigned, sourceOf } from "./values.js";

const STEPS = 1023; // of the colour table

// Colours of evenly spaced values, and last that of masked cells. What has no sign is shaded by its
// square root, as everywhere else.
export function valueTable(scale, masked, signed = false) {
  const table = new Uint32Array(STEPS + 2);
  const law = signed ? (share) => share : Math.sqrt;
  for (let i = 0; i <= STEPS; i++) table[i] = pixel(colourAt(scale, law(i / STEPS)));
  table[STEPS + 1] = pixel(channels(masked));
  return table;
}

// The window's values onto width x height pixels. A pixel that covers several values takes the
// largest of them (of a signed map the one farthest from 0); masked only when all of them are.
function paintValues(pixels, width, height, map, window, table) {
  const { values, stride, top, left, block } = sourceOf(map, window);
  const across = valueSpans(window[2], window[3], block[1], left, width);
  const down = valueSpans(window[0], window[1], block[0], top, height);
  const [low, high] = map.header.bounds;
  const signed = isSigned(map);
  for (let y = 0; y < height; y++) {
    const [first, end] = [down[2 * y], down[2 * y + 1]];
    if (y > 0 && first === down[2 * y - 2] && end === down[2 * y - 1]) {
      pixels.copyWithin(y * width, (y - 1) * width, y * width);
      continue;
    }
    for (let x = 0; x < width; x++) {
      let best = NaN;
      let most = -Infinity;
      for (let row = first; row < end; row++) {
        for (let column = across[2 * x]; column < across[2 * x + 1]; column++) {
          const value = values[row * stride + column];
          const size = signed ? Math.abs(value) : value;
          if (!(size > most)) continue; // NaN is not
          best = value;
          most = size;
        }
      }
      const share = Math.min(1, Math.max(0, (best - low) / (high - low)));
      pixels[y * width + x] = table[Number.isNaN(best) ? STEPS + 1 : Math.round(STEPS * share)];
    }
  }
}

// For each of nPixels over the cells from first to end: its first value, and the one after its last.
function valueSpans(first, end, block, offset, nPixels) {
  return spans(end - first, nPixels).map((cell, i) =>
    i % 2
      ? Math.floor((first + cell - 1) / block) - offset + 1
      : Math.floor((first + cell) / block) - offset,
  );
}

// A canvas of the frame's size, emptied, whose units are CSS pixels.
export function prepareCanvas(canvas, { width, height }) {
  const context = emptied(canvas, ...devicePixels(width, height));
  context.scale(ratio(), ratio());
  return context;
}

export function drawCells({ cells, frame, map, window: shown, table, palette }) {
  const { x, y, width, height } = frame.plot;
  const context = cells.getContext("2d");
  const image = createImage(...devicePixels(width, height));
  paintValues(image.pixels, image.width, image.height, map, shown, table);
  context.putImageData(image.data, ...devicePixels(x, y));
  context.strokeStyle = palette.grid;
  context.lineWidth = 1;
  context.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
  drawSecond(context, frame, map, shown, palette);
}

// Thin lines where the second text of a pair begins.
function drawSecond(context, frame, { header }, window, palette) {
  const [row = 0, column = 0] = header.second ?? [];
  const { x, y } = boxOf(frame, window, [row, row], [column, column]);
  const { plot } = frame;
  context.fillStyle = palette.dim;
  if (row > window[0] && row < window[1]) context.fillRect(plot.x - 6, Math.round(y), plot.width + 6, 1);
  if (column > window[2] && column < window[3]) context.fillRect(Math.round(x), plot.y, 1, plot.height + 6);
}

// Whether rows are high enough for a line that jumps from row to row to leave the map visible.
export function isLine(frame, window) {
  return cellSize(frame, window).height >= 6;
}

// A line through the largest value of each row, or a dot for each where rows are low.
export function drawPath(context, frame, map, window, palette) {
  const { plot } = frame;
  const { width, height } = cellSize(frame, window);
  const line = isLine(frame, window);
  context.save();
  context.beginPath();
  context.rect(plot.x, plot.y, plot.width, plot.height);
  context.clip();
  const dots = [];
  for (let row = Math.max(0, window[0] - 1); row < Math.min(map.nRows, window[1] + 1); row++) {
    const x = plot.x + (map.largest[row] - window[2] + 0.5) * width;
    const y = plot.y + (row - window[0] + 0.5) * height;
    dots.push(map.largest[row] < 0 ? null : [x, y]);
  }
  if (line) strokePath(context, dots, palette);
  context.fillStyle = palette.accent;
  for (const dot of dots.filter(Boolean)) {
    if (!line) context.fillRect(dot[0] - 1, dot[1] - 1, 2, 2);
    else if (Math.min(width, height) >= 8) drawDot(context, ...dot, palette);
  }
  context.restore();
}

// On a light edge, which parts it from dark cells; broken where a row is masked.
function strokePath(context, dots, palette) {
  context.lineJoin = "round";
  context.beginPath();
  dots.forEach((dot, i) => {
    if (dot && dots[i - 1]) context.lineTo(...dot);
    else if (dot) context.moveTo(...dot);
  });
  for (const [colour, width] of [[palette.background, 3.5], [palette.accent, 1.5]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.stroke();
  }
}

function drawDot(context, x, y, palette) {
  context.beginPath();
  context.arc(x, y, 3, 0, 2 * Math.PI);
  context.fillStyle = palette.accent;
  context.fill();
  context.strokeStyle = palette.background;
  context.lineWidth = 1;
  context.stroke();
}

// Lines on both sides of a row or column, which leave its shades alone.
export function drawBand(context, frame, map, window, axis, place, colour) {
  const [first, end] = axis === "rows" ? window.slice(0, 2) : window.slice(2);
  if (place < first || place >= end) return;
  const rows = axis === "rows" ? [place, place] : [window[0], window[1] - 1];
  const columns = axis === "rows" ? [window[2], window[3] - 1] : [place, place];
  const { x, y, width, height } = boxOf(frame, window, rows, columns);
  context.fillStyle = colour;
  if (axis === "rows") {
    context.fillRect(x, y - 1, width, 1);
    context.fillRect(x, y + height, width, 1);
  } else {
    context.fillRect(x - 1, y, 1, height);
    context.fillRect(x + width, y, 1, height);
  }
}

// Around a cell or a block; one that is too small to see gets a box of 6 px.
export function drawOutline(context, frame, window, rows, columns, colour, edge) {
  if (rows[1] < window[0] || rows[0] >= window[1]) return;
  if (columns[1] < window[2] || columns[0] >= window[3]) return;
  const box = boxOf(frame, window, rows, columns);
  const [width, height] = [Math.max(6, box.width), Math.max(6, box.height)];
  const [x, y] = [box.x - (width - box.width) / 2, box.y - (height - box.height) / 2];
  for (const [stroke, line] of [[edge, 4], [colour, 2]]) {
    context.strokeStyle = stroke;
    context.lineWidth = line;
    context.strokeRect(x, y, width, height);
  }
}
