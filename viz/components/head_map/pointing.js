// Pointing at a head map, and being told what is pointed at elsewhere.

import { announceToken } from "../kit/page.js";
import { placeAt } from "./frame.js";
import { drawMarks } from "./marks.js";
import { read } from "./readout.js";
import { placeOf, tokenOf, valueAt } from "./values.js";

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
  const axis = place?.axis === "columns" ? "columns" : "rows";
  const token = place && tokenOf(view.map, axis, axis === "rows" ? place.row : place.column);
  if (token) announceToken(token.side, token.position);
  else if (view.told) announceToken(view.told.side, null);
  view.told = token;
}

export function hear(view, token) {
  if (!view.map) return;
  const places = { rows: placeOf(view.map, "rows", token), columns: placeOf(view.map, "columns", token) };
  view.pointed = places.rows < 0 && places.columns < 0 ? null : places;
  view.root.dataset.pointed = `${places.rows},${places.columns}`;
  if (!view.hover) drawMarks(view);
  read(view);
}
