// Pointing, dragging and zooming on a head map.

function eventPlace(view, event) {
  const { left, top } = view.stage.getBoundingClientRect();
  const place = placeAt(view.frame, view.window, event.clientX - left, event.clientY - top);
  if (place?.axis !== "cell") return place;
  // Of a block, the cell whose value it shows.
  const { value, row, column } = valueAt(view.map, view.window, place.row, place.column);
  return Number.isNaN(value) ? place : { axis: "cell", row, column };
}

function pointerMoved(view, event) {
  if (!view.frame) return;
  if (view.pressed && event.buttons & 1) stretchBox(view, event);
  if (!view.box) point(view, eventPlace(view, event));
}

// place: as placeAt gives it; null where nothing is pointed at.
function point(view, place) {
  if (!view.map || JSON.stringify(place) === JSON.stringify(view.hover)) return;
  view.hover = place;
  drawMarks(view);
  showTip(view, place);
  tellToken(view, place);
}

// The token of a row, or of a column's label, is marked in every other picture.
function tellToken(view, place) {
  const axis = place?.axis === "columns" ? "columns" : "rows";
  const token = place && tokenOf(view.map, axis, axis === "rows" ? place.row : place.column);
  if (token) announceToken(token.side, token.position);
  else if (view.told) announceToken(view.told.side, null);
  view.told = token;
}

function hear(view, token) {
  if (!view.map) return;
  const places = { rows: placeOf(view.map, "rows", token), columns: placeOf(view.map, "columns", token) };
  view.pointed = places.rows < 0 && places.columns < 0 ? null : places;
  view.root.dataset.pointed = `${places.rows},${places.columns}`;
  if (!view.hover) drawMarks(view);
}

// A finger scrolls the page; only a mouse or a pen draws a box.
function pressed(view, event) {
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

function released(view) {
  const { box, pressed: start } = view;
  dropBox(view);
  if (!box || !start) return;
  view.dragged = true; // the click that follows chooses nothing
  const end = placeAt(view.frame, view.window, box.toX, box.toY);
  const [top, bottom] = [start.place.row, end.row].sort((a, b) => a - b);
  const [left, right] = [start.place.column, end.column].sort((a, b) => a - b);
  zoomTo(view, [top, bottom + 1, left, right + 1]);
}

function dropBox(view) {
  view.pressed = view.box = null;
  drawMarks(view);
}

function clicked(view, event) {
  if (view.dragged || !view.frame) return;
  const place = eventPlace(view, event);
  if (place?.axis !== "cell") return;
  view.cursor = null;
  choose(view, place.row, place.column);
  point(view, place); // under a finger, this is what shows the value
}

// Back to the whole map; or, where cells are too small to hit, closer.
function doubleClicked(view, event) {
  const place = eventPlace(view, event);
  const { width, height } = cellSize(view.frame, view.window);
  if (!view.back.hidden) zoomTo(view, wholeWindow(view.map));
  else if (place?.axis === "cell" && Math.min(width, height) < 12) {
    zoomBy(view, 0.25, place.row, place.column);
  }
}

// Ctrl and the wheel, or two fingers on a touchpad: the wheel alone scrolls the page.
function wheeled(view, event) {
  if (!(event.ctrlKey || event.metaKey) || !view.frame) return;
  const place = eventPlace(view, event);
  if (place?.axis !== "cell") return;
  event.preventDefault();
  zoomBy(view, event.deltaY < 0 ? 0.8 : 1.25, place.row, place.column);
}

// The window becomes `factor` times as large; the cell keeps its place in it.
function zoomBy(view, factor, row, column) {
  const [top, bottom, left, right] = view.window;
  const side = (first, end, at) => {
    const size = (end - first) * factor;
    const start = at + 0.5 - ((at + 0.5 - first) / (end - first)) * size;
    return [start, start + size];
  };
  zoomTo(view, [...side(top, bottom, row), ...side(left, right, column)]);
}

function zoomTo(view, wanted) {
  const next = fitWindow(view.map, wanted);
  if (String(next) === String(view.window)) return;
  view.window = next;
  view.hover = null;
  showTip(view, null);
  draw(view);
  askLater(view);
}

// Exact values are asked for once the window rests.
function askLater(view) {
  clearTimeout(view.timer);
  const { map, window: shown, asks } = view;
  if (!asks || isExact(map, shown) || !isSmall(shown)) return;
  view.timer = setTimeout(() => view.send("region", regionAround(map, shown)), SETTLED);
}
