// A head map under a pointer: pointing, choosing a cell, dragging a box, zooming.

import { tell } from "../kit/sync.js";
import { cellSize, placeAt } from "./frame.js";
import { drawMarks } from "./marks.js";
import { eventPlace, point } from "./pointing.js";
import { read } from "./readout.js";
import { valueAt, wholeWindow } from "./values.js";
import { zoomBy, zoomTo } from "./zoom.js";

const DRAG = 6; // px that a press may move and still be a click

export function pointerMoved(view, event) {
  if (view.pressed && event.buttons & 1) stretchBox(view, event);
  if (!view.box) point(view, eventPlace(view, event));
}

// A finger scrolls the page; only a mouse or a pen draws a box.
export function pressed(view, event) {
  view.dragged = false;
  if (event.button !== 0 || event.pointerType === "touch") return;
  const place = eventPlace(view, event);
  view.pressed = place?.axis === "cell" ? { x: event.clientX, y: event.clientY, place } : null;
}

function stretchBox(view, event) {
  const { x, y } = view.pressed;
  const far = Math.hypot(event.clientX - x, event.clientY - y) > DRAG;
  if (!view.box && !far) return;
  if (!view.box) {
    view.stage.setPointerCapture(event.pointerId);
    point(view, null);
  }
  const { left, top } = view.stage.getBoundingClientRect();
  const { plot } = view.frame;
  view.box = {
    x: x - left,
    y: y - top,
    toX: Math.min(plot.x + plot.width - 1, Math.max(plot.x, event.clientX - left)),
    toY: Math.min(plot.y + plot.height - 1, Math.max(plot.y, event.clientY - top)),
  };
  drawMarks(view);
}

export function released(view) {
  const { box, pressed: start } = view;
  dropBox(view);
  if (!box || !start) return;
  view.dragged = true; // the click that follows chooses nothing
  const end = placeAt(view.frame, view.window, box.toX, box.toY);
  const [top, bottom] = [start.place.row, end.row].sort((a, b) => a - b);
  const [left, right] = [start.place.column, end.column].sort((a, b) => a - b);
  zoomTo(view, [top, bottom + 1, left, right + 1]);
}

export function dropBox(view) {
  view.pressed = view.box = null;
  drawMarks(view);
}

export function clicked(view, event) {
  if (view.dragged) return;
  const place = eventPlace(view, event);
  if (place?.axis !== "cell") return;
  view.cursor = null;
  choose(view, place.row, place.column);
  point(view, place); // under a finger, this is what shows the value
}

// Back to the whole map; or, where cells are too small to hit, closer.
export function doubleClicked(view, event) {
  const place = eventPlace(view, event);
  const { width, height } = cellSize(view.frame, view.window);
  if (!view.back.hidden) zoomTo(view, wholeWindow(view.map));
  else if (place?.axis === "cell" && Math.min(width, height) < 12) {
    zoomBy(view, 0.25, place.row, place.column);
  }
}

// Ctrl and the wheel, or two fingers on a touchpad: the wheel alone scrolls the page.
export function wheeled(view, event) {
  if (!(event.ctrlKey || event.metaKey)) return;
  const place = eventPlace(view, event);
  if (place?.axis !== "cell") return;
  event.preventDefault();
  zoomBy(view, event.deltaY < 0 ? 0.8 : 1.25, place.row, place.column);
}

export function choose(view, row, column) {
  const found = valueAt(view.map, view.window, row, column);
  const cell = Number.isNaN(found.value) ? [row, column] : [found.row, found.column];
  view.selected = cell;
  view.root.dataset.selected = String(cell);
  drawMarks(view);
  read(view);
  tell(view.sync, "cell", cell);
}
