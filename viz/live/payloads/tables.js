// Cells of tables as elements, as viz/painters/table_html.py makes them: [name, attributes, ...children].

import { fixed, rounded } from "./numbers.js";

// A cell with a ground. text may be empty; place: on the scale, -1 to 1.
export function shaded({ limits }, { text, tip, value, place, isMarked = false }) {
  const middle = limits.stops - 1;
  const shade = `s${Number(fixed(place * middle, 0)) + middle}`;
  const look = isMarked ? `${shade} marked` : shade;
  const more = { class: look, "data-value": general(value), ...(tip ? { title: tip } : {}) };
  return ["td", more, ...(text ? [text] : [])];
}

// The place of a value on a scale, by the root of its share of the largest.
export function rooted(value, largest) {
  const place = Math.sqrt(Math.min(1, largest ? Math.abs(value) / largest : 0));
  return value >= 0 ? place : -place;
}

// A number with so many digits that count, as Python's format "g" has it.
export function general(value, digits = 6) {
  if (value === 0) return Object.is(value, -0) ? "-0" : "0";
  const size = Math.floor(Math.log10(Math.abs(value)));
  const short = rounded(value, Math.min(100, Math.max(0, digits - 1 - size)));
  if (size >= -4 && size < digits) return String(short);
  return short.toExponential().replace(/([+-])(\d)$/, "$10$2");
}
