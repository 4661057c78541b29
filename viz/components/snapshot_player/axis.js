// Two plots below each other share one axis of steps: where a step stands, and SVG to draw with.

import { count } from "./words.js";

export const PLOT = { left: 46, right: 14, bottom: 8 }; // px around the lines

export function svg(tag, attributes, text) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

// step -> share of the width. Logarithmic in step + s, where s is the first step after 0: so 0 has
// a place, and from there to s takes about as much room as from s to 3 s.
export function stepScale(steps) {
  const shift = steps.find((step) => step > 0) ?? 1;
  const last = steps.at(-1) || 1;
  const whole = Math.log(last + shift) - Math.log(shift);
  return { shift, last, at: (step) => (Math.log(step + shift) - Math.log(shift)) / whole };
}

// Values from 0 to `most` -> pixel rows, with a few round numbers.
export function valueScale(most, height, top) {
  const rough = (most || 1) / Math.max(2, Math.floor(height / 40));
  const ten = 10 ** Math.floor(Math.log10(rough));
  const tick = [1, 2, 2.5, 5, 10].map((n) => n * ten).find((n) => n >= rough);
  const room = height - top - PLOT.bottom;
  const ticks = [];
  for (let value = 0; value <= 1.0001 * most; value += tick) ticks.push(Number(value.toPrecision(6)));
  return { ticks, at: (value) => top + room * (1 - value / (most || 1)) };
}

// The steps whose labels do not meet; the last one always has one. type: their size, px.
export function labelledSteps(steps, x, type = 11) {
  const shown = [steps.length - 1];
  const room = (i) => 0.31 * type * count(steps[i]).length + 5; // half a label
  for (let i = steps.length - 2; i >= 0; i--) {
    const next = shown[0];
    if (x(steps[next]) - x(steps[i]) >= room(i) + room(next)) shown.unshift(i);
  }
  return shown;
}

// "M x y L x y ..."; a value that is not defined breaks the line.
export function linePath(points) {
  let pen = "M";
  return points
    .map(([x, y]) => {
      if (Number.isNaN(y)) return ((pen = "M"), "");
      const part = `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = "L";
      return part;
    })
    .join("");
}
