// Vectors as bars and steps on canvases, sharp at any number of device pixels.

import { devicePixels, emptied, ratio } from "../kit/canvas.js";

const PALE = 0.38; // of the whole in which a part is drawn

// A context in device pixels, emptied; null while the canvas is not shown.
function openCanvas(canvas) {
  const [width, height] = devicePixels(canvas.clientWidth, canvas.clientHeight);
  if (!width || !height) return null;
  const sizes = { ratio: ratio(), pixelsAcross: width, pixelsDown: height };
  return Object.assign(emptied(canvas, width, height), sizes);
}

// The smallest and largest of all values, and 0.
function span(...vectors) {
  let [low, high] = [0, 0];
  for (const vector of vectors) {
    for (const value of vector) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return low === high ? [-1, 1] : [low, high];
}

// value -> pixel row, with a pixel to spare at both ends
function downwards(context, [low, high]) {
  const room = context.pixelsDown - 2;
  return (value) => 1 + Math.round((room * (high - value)) / (high - low));
}

// The pixels of dimension d: [first, one after the last].
function across(context, d, n) {
  const left = Math.round((d * context.pixelsAcross) / n);
  return [left, Math.max(left + 1, Math.round(((d + 1) * context.pixelsAcross) / n))];
}

// layers: [{ values, pale, narrow }], each above the one before; marked: a dimension or null.
export function drawBars(canvas, layers, marked, colours) {
  const context = openCanvas(canvas);
  if (!context) return;
  const place = downwards(context, span(...layers.map(({ values }) => values)));
  const zero = place(0);
  const n = layers[0].values.length;
  markDimension(context, marked, n, colours);
  for (const { values, pale, narrow } of layers) {
    context.globalAlpha = pale ? PALE : 1;
    for (let d = 0; d < n; d++) {
      const [left, right] = across(context, d, n);
      const gap = right - left > 3 ? Math.max(1, Math.round((right - left) * 0.2)) : 0;
      const inset = narrow ? Math.round((right - left - gap) * 0.22) : 0;
      const end = place(values[d]);
      // A bar of no height at all shows that there is a value; within another it shows nothing.
      const size = Math.max(narrow || values[d] === 0 ? 0 : 1, Math.abs(end - zero));
      if (pale) context.fillStyle = colours.dim;
      else context.fillStyle = values[d] > 0 ? colours.positive : colours.negative;
      const top = values[d] > 0 ? zero - size : zero;
      context.fillRect(left + inset, top, right - left - gap - 2 * inset, size);
    }
  }
  context.globalAlpha = 1;
  drawZero(context, zero, colours);
}

// A line that rises and falls with each dimension, from 0 to a dot at its end.
export function drawSteps(canvas, values, marked, colours) {
  const context = openCanvas(canvas);
  if (!context) return;
  const place = downwards(context, span(values));
  markDimension(context, marked, values.length, colours);
  drawZero(context, place(0), colours);
  const radius = 3 * context.ratio;
  const clamp = (y) => Math.min(context.pixelsDown - radius, Math.max(radius, y));
  context.beginPath();
  context.moveTo(0, clamp(place(0)));
  let right = 0;
  values.forEach((value, d) => {
    const [left, end] = across(context, d, values.length);
    const y = clamp(place(value));
    context.lineTo(left, y);
    context.lineTo(Math.min(end, context.pixelsAcross - radius), y);
    right = Math.min(end, context.pixelsAcross - radius);
  });
  context.strokeStyle = colours.positive;
  context.lineWidth = 1.5 * context.ratio;
  context.lineJoin = "round";
  context.stroke();
  context.beginPath();
  context.arc(right, clamp(place(values.at(-1))), radius, 0, 2 * Math.PI);
  context.fillStyle = colours.positive;
  context.fill();
}

// Lengths below each other on one axis: [{ value, pale }].
export function drawLengths(canvas, lengths, colours) {
  const context = openCanvas(canvas);
  if (!context) return;
  const [low, high] = span(lengths.map(({ value }) => value));
  const place = (value) => Math.round(((context.pixelsAcross - 1) * (value - low)) / (high - low));
  const zero = place(0);
  const each = context.pixelsDown / lengths.length;
  lengths.forEach(({ value, pale }, i) => {
    context.globalAlpha = pale ? PALE : 1;
    if (pale) context.fillStyle = colours.dim;
    else context.fillStyle = value >= 0 ? colours.positive : colours.negative;
    const [from, to] = [zero, place(value)].sort((a, b) => a - b);
    const top = Math.round(i * each + each * 0.15);
    context.fillRect(from, top, Math.max(1, to - from), Math.round(each * 0.7));
  });
  context.globalAlpha = 1;
  context.fillStyle = colours.dim;
  context.fillRect(zero, 0, Math.max(1, Math.round(context.ratio)), context.pixelsDown);
}

// A strip of keys, allowed or not, with a frame around the chosen one.
export function drawMask(canvas, allowed, chosen, colours) {
  const context = openCanvas(canvas);
  if (!context) return;
  const [line, n] = [Math.max(1, Math.round(context.ratio)), allowed.length];
  const inset = 2 * line;
  const height = context.pixelsDown - 2 * inset;
  allowed.forEach((isAllowed, key) => {
    const [left, right] = across(context, key, n);
    const gap = right - left > 3 ? line : 0;
    context.globalAlpha = isAllowed ? PALE : 1;
    context.fillStyle = isAllowed ? colours.positive : colours.masked;
    context.fillRect(left, inset, right - left - gap, height);
    context.globalAlpha = 1;
    if (!isAllowed) hatch(context, left, inset, right - left - gap, height, colours);
  });
  const [left, right] = across(context, chosen, n);
  const width = Math.max(right - left, 4 * line);
  const from = Math.min(Math.max(line, left), context.pixelsAcross - width - line);
  context.strokeStyle = colours.accent;
  context.lineWidth = 2 * line;
  context.strokeRect(from, line, width - line, context.pixelsDown - 2 * line);
}

// A stroke through a forbidden key: told apart by more than its colour.
function hatch(context, left, top, width, height, colours) {
  if (width < 6) return;
  context.strokeStyle = colours.dim;
  context.lineWidth = Math.max(1, context.ratio);
  context.beginPath();
  context.moveTo(left + 2, top + height - 2);
  context.lineTo(left + width - 2, top + 2);
  context.stroke();
}

function drawZero(context, zero, colours) {
  context.fillStyle = colours.dim;
  context.globalAlpha = 0.6;
  context.fillRect(0, zero, context.pixelsAcross, Math.max(1, Math.round(context.ratio / 2)));
  context.globalAlpha = 1;
}

function markDimension(context, marked, n, colours) {
  if (marked === null || marked >= n) return;
  const [left, right] = across(context, marked, n);
  const spare = Math.max(0, Math.round(3 * context.ratio) - (right - left));
  context.fillStyle = colours.accent;
  context.globalAlpha = 0.22;
  context.fillRect(left - Math.floor(spare / 2), 0, right - left + spare, context.pixelsDown);
  context.globalAlpha = 1;
}
