// The points of a room beside the weights that are now shown: word by word, as bars of one scale.

import { element } from "../kit/page.js";
import { createField, partOf } from "./field.js";
import { sumOf } from "./points.js";

// Words that are shown, of the largest, with all others together: on a wall, and where there is room.
const MOST = { stage: 4 };
const USUAL = 6;

// Those that are not shown by themselves.
export function createRest() {
  const rest = createField("");
  rest.range.hidden = rest.button.disabled = true;
  return rest;
}

// tally: null where there is nothing to compare.
export function showResult(view, tally) {
  const { fields, rest, list, key, truth, role } = view;
  list.classList.toggle("result", Boolean(tally));
  list.classList.toggle("on-wall", Boolean(tally) && role === "stage");
  key.hidden = !tally;
  rest.node.hidden = true;
  for (const { node, button, weight } of fields) {
    node.hidden = false;
    button.disabled = Boolean(truth);
    weight.hidden = !tally;
  }
  if (!tally) return;
  const all = sumOf(tally.points);
  const parts = fields.map((_, i) => Math.max(tally.points[i] / all, truth.weights[i]));
  const largest = parts.map((_, i) => i).sort((a, b) => parts[b] - parts[a] || a - b);
  const most = MOST[role] ?? USUAL;
  const others = fields.length > most ? largest.slice(most - 1) : [];
  fields.forEach((each, i) => {
    each.node.hidden = others.includes(i);
    compare(each, tally.points[i], all, truth.weights[i]);
  });
  if (others.length) {
    const sum = (values) => sumOf(others.map((i) => values[i]));
    Object.assign(rest.node, { hidden: false });
    rest.button.textContent = `${others.length} others`;
    compare(rest, sum(tally.points), all, sum(truth.weights));
  }
  showKey(key, all);
}

function compare({ range, bar, number, weight }, points, all, value) {
  range.hidden = true;
  bar.hidden = weight.hidden = false;
  bar.style.setProperty("--part", partOf(points, all));
  bar.style.setProperty("--weight", partOf(value, 1));
  number.textContent = points;
  weight.textContent = value.toFixed(3);
}

function showKey(key, all) {
  key.replaceChildren(element("i", "points"), ` ${all} points`, element("i", "weights"), " weights");
}
