// A word that points are put on: by hand, or by everybody in the room.

import { element } from "../kit/page.js";
import { ALL, sumOf } from "./points.js";

export function createField(word) {
  const [node, button, range] = [element("li"), element("button", "", word), element("input")];
  const [bar, number, weight] = [element("span", "bar"), element("output"), element("output", "weight")];
  button.type = "button";
  Object.assign(range, { type: "range", min: 0, max: ALL, step: 5 });
  range.setAttribute("aria-label", `Points for ${word}`);
  node.append(button, range, bar, number, weight);
  for (const each of [number, weight]) each.ariaLive = "off"; // they are read when somebody asks
  weight.hidden = true;
  return { node, button, range, bar, number, weight };
}

// given: by hand; tally: of the room, whose points stand in their place.
export function showField({ button, range, bar, number }, given, tally, i) {
  range.hidden = Boolean(tally);
  bar.hidden = !tally;
  range.value = given;
  range.style.setProperty("--part", `${given}%`);
  button.setAttribute("aria-pressed", given === ALL);
  const points = tally?.points[i] ?? 0;
  if (tally) bar.style.setProperty("--part", partOf(points, sumOf(tally.points)));
  number.textContent = tally ? points : given || "";
}

// Of all, as CSS says it.
export function partOf(value, all) {
  return `${all ? (100 * value) / all : 0}%`;
}
