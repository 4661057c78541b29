// What lies over a head map's cells: the path, what is chosen and what is pointed at.

import { drawLabelsOver } from "./frame.js";
import { drawBand, drawOutline, drawPath, prepareCanvas } from "./paint.js";
import { pointedAt } from "./readout.js";
import { inMap, pinsOf, valueAt } from "./values.js";

export function drawMarks(view) {
  if (!view.frame) return;
  const { frame, map, palette, window: shown, selected, pointed } = view;
  const context = prepareCanvas(view.marks, frame);
  if (view.path) drawPath(context, frame, map, shown, palette);
  const { accent, background, text } = palette;
  const at = pointedAt(view);
  const pinned = pinsOf(view);
  for (const { row, column } of pinned) {
    const axis = row < 0 ? "columns" : "rows";
    drawBand(context, frame, map, shown, axis, Math.max(row, column), accent);
  }
  if (pointed?.isCell && !at) outline(view, context, pointed.rows, pointed.columns, text, background);
  else if (pointed && !at) {
    for (const axis of ["rows", "columns"]) {
      drawBand(context, frame, map, shown, axis, pointed[axis], accent);
    }
  }
  const chosen = selected && String(inMap(map, ...selected)) === String(selected);
  if (chosen) outline(view, context, ...selected, accent, background);
  if (at?.axis === "cell") outline(view, context, at.row, at.column, text, background);
  else if (at) drawBand(context, frame, map, shown, at.axis, at.row + at.column + 1, accent);
  markLabels(view, context, { selected: chosen && selected, pointed, at, pinned });
  if (view.box) drawBox(context, view.box, palette);
}

function outline(view, context, row, column, colour, edge) {
  const { rows, columns } = valueAt(view.map, view.window, ...inMap(view.map, row, column));
  drawOutline(context, view.frame, view.window, rows, columns, colour, edge);
}

// The labels of what is chosen and pointed at always show, over their neighbours if need be.
function markLabels(view, context, { selected, pointed, at, pinned }) {
  const { map, frame, window: shown, palette } = view;
  const places = [];
  if (selected) places.push(selected);
  if (pointed && !at) places.push([pointed.rows, pointed.columns]);
  if (at) places.push([at.row, at.column]);
  const [rows, columns] = [0, 1].map((axis) => new Set(places.map((place) => place[axis])));
  for (const { row, column } of pinned) (row < 0 ? columns : rows).add(Math.max(row, column));
  drawLabelsOver(context, frame, map, shown, "rows", rows, palette);
  drawLabelsOver(context, frame, map, shown, "columns", columns, palette);
}

function drawBox(context, { x, y, toX, toY }, palette) {
  context.strokeStyle = palette.accent;
  context.lineWidth = 1.5;
  context.setLineDash([4, 3]);
  context.strokeRect(Math.min(x, toX), Math.min(y, toY), Math.abs(toX - x), Math.abs(toY - y));
}
