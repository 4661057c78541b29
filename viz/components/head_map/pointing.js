// Pointing at a head map, and being told what is pointed at elsewhere.

import { announce, placesOf, tokenAt } from "../kit/twin.js";
import { placeAt } from "./frame.js";
import { drawMarks } from "./marks.js";
import { read } from "./readout.js";
import { valueAt } from "./values.js";

// What an event is at; null where nothing is, or nothing is drawn yet.
export function eventPlace(view, event) {
  if (!view.frame) return null;
  const { left, top } = view.stage.getBoundingClientRect();
  const place = placeAt(view.frame, view.window, event.clientX - left, event.clientY - top);
  if (place?.axis !== "cell") return place;
  // Of a block, the cell whose value it shows.
  const { value, row, column } = valueAt(view.map, view.window, place.row, place.column);
  return Number.isNaN(value) ? place : { axis: "cell", row, column };
}

// place: as placeAt gives it; null where nothing is pointed at.
export function point(view, place) {
  if (!view.map || JSON.stringify(place) === JSON.stringify(view.hover)) return;
  view.hover = place;
  drawMarks(view);
  read(view);
  tellToken(view, place);
}

// The token of a row, or of a column's label, is marked in every other picture.
export function tellToken(view, place) {
  if (!place) return announce(view, null);
  const { rows, columns } = view.map.header.sides;
  const key = place.axis === "rows" ? null : tokenAt(columns, place.column);
  if (place.axis === "columns") announce(view, key, "columns");
  else announce(view, tokenAt(rows, place.row), place.axis, key);
}

export function hear(view, token) {
  if (!view.map) return;
  const places = placesOf(view, token);
  view.pointed = places.rows < 0 && places.columns < 0 ? null : places;
  view.root.dataset.pointed = `${places.rows},${places.columns}`;
  if (!view.hover) drawMarks(view);
  read(view);
}
