// One head large: point at a cell to read it, click to choose it, drag a box to look closer.

const WAIT_FOR_SERVER = 1500; // ms in which an older answer does not take a click back
const DRAG = 6; // px that a press may move and still be a click
const SETTLED = 200; // ms without a further zoom before exact values are asked for
const HINT =
  "Arrow keys move from cell to cell, Enter chooses one, plus and minus zoom, 0 shows the whole map.";
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".head-map");
  if (!views.has(root)) views.set(root, create(root));
  const view = views.get(root);
  view.send = setTriggerValue;
  update(view, openEnvelope(data));
  return () => {
    view.dispose();
    views.delete(root);
    root.replaceChildren();
  };
}

function create(root) {
  const view = { root, selected: null, cursor: null, hover: null, pointed: null, clicked: 0 };
  view.title = element("div", "title");
  view.back = element("button", "back", "whole map");
  view.back.type = "button";
  view.waiting = element("span", "waiting dim", "loading exact values");
  view.cells = element("canvas");
  view.marks = element("canvas");
  for (const canvas of [view.cells, view.marks]) canvas.setAttribute("aria-hidden", "true");
  view.tip = element("div", "tip");
  view.tip.setAttribute("aria-hidden", "true"); // the live region says the same
  view.tip.hidden = true;
  view.stage = createStage(view);
  view.live = element("div", "hidden-text");
  view.live.setAttribute("aria-live", "polite");
  view.legend = element("div", "legend dim");
  const bar = element("div", "bar");
  bar.append(view.title, view.waiting, view.back);
  root.replaceChildren(bar, view.stage, view.legend, view.live);
  const observer = new ResizeObserver(() => view.map && root.clientWidth !== view.width && draw(view));
  observer.observe(root);
  const silence = onToken((token) => hear(view, token));
  view.dispose = () => {
    clearTimeout(view.timer);
    observer.disconnect();
    silence();
  };
  listen(view);
  return view;
}

// A grid of which only the cell at the cursor is there, as its rows may be thousands.
function createStage(view) {
  const stage = element("div", "stage");
  stage.tabIndex = 0;
  stage.setAttribute("role", "grid");
  const hint = element("span", "hidden-text", HINT);
  hint.id = "hint";
  view.line = element("div", "hidden-text");
  view.line.setAttribute("role", "row");
  view.cell = element("div");
  view.cell.setAttribute("role", "gridcell");
  view.cell.id = "cell";
  view.line.append(view.cell);
  stage.setAttribute("aria-activedescendant", "cell");
  stage.setAttribute("aria-describedby", "hint");
  view.hint = hint;
  stage.append(view.cells, view.marks, view.tip, view.line);
  return stage;
}

function listen(view) {
  const { stage } = view;
  stage.onpointermove = (event) => pointerMoved(view, event);
  stage.onpointerdown = (event) => pressed(view, event);
  stage.onpointerup = (event) => released(view, event);
  stage.onpointercancel = () => dropBox(view);
  stage.onpointerleave = () => point(view, null);
  stage.onclick = (event) => clicked(view, event);
  stage.ondblclick = (event) => doubleClicked(view, event);
  stage.addEventListener("wheel", (event) => wheeled(view, event), { passive: false });
  stage.onkeydown = (event) => onMapKey(view, event);
  stage.onfocus = () => stage.matches(":focus-visible") && moveCursor(view, ...cursorOf(view));
  stage.onblur = () => {
    view.cursor = null;
    point(view, null);
  };
  view.back.onclick = () => {
    zoomTo(view, wholeWindow(view.map));
    stage.focus();
  };
}

function update(view, { nonce, palette, difference, asks, cell, path, payload }) {
  const drawn = `${nonce} ${palette.name}`;
  const repaint = drawn !== view.drawn;
  if (repaint) {
    const before = view.map;
    Object.assign(view, { drawn, nonce, palette, map: readMap(payload) });
    view.scale = view.map.header.lens.scale === "signed" ? difference : palette.scale;
    view.table = valueTable(view.scale, palette.masked);
    applyPalette(view.root, { ...palette, scale: view.scale });
    keepWindow(view, before);
    name(view);
  }
  Object.assign(view, { asks, path });
  if (Date.now() - view.clicked > WAIT_FOR_SERVER || String(cell) === String(view.selected)) {
    view.selected = cell;
  }
  view.root.dataset.selected = String(view.selected ?? "");
  explain(view);
  if (repaint || !view.frame) draw(view);
  else {
    tellState(view);
    drawMarks(view);
  }
}

// Another head of the same tokens keeps the window, if its values there are as exact as before.
function keepWindow(view, before) {
  const { map } = view;
  const same = before?.header.tokens === map.header.tokens;
  const whole = !same || String(view.window) === String(wholeWindow(map));
  const pooled = !whole && isSmall(view.window) && !isExact(map, view.window);
  const sameHead = same && before.header.id === map.header.id;
  if (whole || (pooled && !sameHead)) view.window = wholeWindow(map);
  if (pooled && sameHead) askLater(view); // the answer to an older question
  if (!same) Object.assign(view, { cursor: null, hover: null, pointed: null });
}

function name(view) {
  const { header, nRows, nColumns } = view.map;
  view.title.replaceChildren(element("strong", "", header.name), ` ${header.title}`);
  for (const note of header.notes) view.title.append(element("span", "dim", ` · ${note}`));
  view.stage.setAttribute("aria-label", header.says);
  view.stage.setAttribute("aria-rowcount", nRows);
  view.stage.setAttribute("aria-colcount", nColumns);
  describe(view, ...cursorOf(view));
}

function explain(view) {
  const { header } = view.map;
  const [low, high] = header.bounds;
  const middle = (low + high) / 2;
  const scale = element("span", "scale");
  const ticks = element("span", "ticks");
  for (const value of [low, middle, high]) ticks.append(element("span", "", tick(value)));
  scale.append(element("span", "ramp"), ticks);
  const parts = [scale, element("span", "", sentenceCase(header.lens.title))];
  if (header.masked) {
    const masked = element("span");
    masked.append(element("span", "masked"), " masked");
    parts.push(masked);
  }
  if (view.path) {
    const line = element("span");
    view.pathName = element("span");
    view.pathSign = element("span");
    line.append(view.pathSign, view.pathName);
    parts.push(line);
  }
  view.pooled = element("span");
  parts.push(view.pooled);
  view.legend.replaceChildren(...parts, view.hint);
}

function sentenceCase(title) {
  return title.charAt(0).toLowerCase() + title.slice(1);
}

function tick(value) {
  if (value === 0.5) return "½";
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

function draw(view) {
  view.width = view.root.clientWidth;
  if (!view.width) return; // not shown; the observer calls again
  const start = performance.now();
  const { map, palette, stage, cells, root } = view;
  const family = getComputedStyle(root).fontFamily;
  const frame = measureFrame(map, view.width, cells.getContext("2d"), family);
  view.frame = frame;
  stage.style.height = `${frame.height}px`;
  for (const canvas of [cells, view.marks]) {
    canvas.style.width = `${frame.width}px`;
    canvas.style.height = `${frame.height}px`;
  }
  const context = prepareCanvas(cells, frame);
  drawLabels(context, frame, map, view.window, palette);
  drawCells(context, frame, map, view.window, view.table, palette);
  tellState(view);
  drawMarks(view);
  root.dataset.drawMs = (performance.now() - start).toFixed(1);
  root.dataset.nonce = view.nonce;
  redrawWithFonts(view);
}

// Canvas text does not follow when the page's font arrives.
function redrawWithFonts(view) {
  if (document.fonts.status === "loaded") return;
  document.fonts.ready.then(() => view.root.isConnected && draw(view));
}

// What the window shows, in words and for tests.
function tellState(view) {
  const { map, window: shown, frame, root } = view;
  const whole = String(shown) === String(wholeWindow(map));
  const exact = isExact(map, shown);
  view.back.hidden = whole;
  view.waiting.hidden = exact || !view.asks || !isSmall(shown);
  const [down, across] = map.header.block;
  const { width, height } = cellSize(frame, shown);
  const dense = Math.min(width, height) * window.devicePixelRatio < 1;
  view.pooled.textContent = !exact
    ? `each cell is the largest of ${down} × ${across}: zoom in for exact values`
    : dense ? "a pixel shows the largest of its cells" : "";
  if (view.path) {
    const shape = isLine(frame, shown) ? "line" : "dots";
    view.pathSign.className = shape;
    view.pathName.textContent = ` ${shape}: each row's largest ${sentenceCase(map.header.lens.title)}`;
  }
  const { x, y, width: plotWidth, height: plotHeight } = frame.plot;
  Object.assign(root.dataset, {
    id: map.header.id,
    window: String(shown),
    exact: String(exact),
    plot: String([x, y, plotWidth, plotHeight]),
  });
}

function drawMarks(view) {
  if (!view.frame) return;
  const { frame, map, palette, window: shown, hover, selected, cursor, pointed } = view;
  const context = prepareCanvas(view.marks, frame);
  if (view.path) drawPath(context, frame, map, shown, palette);
  const { accent, background, text } = palette;
  const at = hover ?? (cursor && { axis: "cell", row: cursor[0], column: cursor[1] });
  if (pointed && !at) {
    for (const axis of ["rows", "columns"]) {
      drawBand(context, frame, map, shown, axis, pointed[axis], accent);
    }
  }
  if (selected) outline(view, context, ...selected, accent, background);
  if (at?.axis === "cell") outline(view, context, at.row, at.column, text, background);
  else if (at) drawBand(context, frame, map, shown, at.axis, at.row + at.column + 1, accent);
  markLabels(view, context, { selected, pointed, at });
  if (view.box) drawBox(context, view.box, palette);
}

function outline(view, context, row, column, colour, edge) {
  const { rows, columns } = valueAt(view.map, view.window, ...inMap(view.map, row, column));
  drawOutline(context, view.frame, view.window, rows, columns, colour, edge);
}

// The labels of what is chosen and pointed at always show, over their neighbours if need be.
function markLabels(view, context, { selected, pointed, at }) {
  const { map, frame, window: shown, palette } = view;
  const [rows, columns] = [new Set(), new Set()];
  if (selected) rows.add(selected[0]), columns.add(selected[1]);
  if (pointed && !at) rows.add(pointed.rows), columns.add(pointed.columns);
  if (at) rows.add(at.row), columns.add(at.column);
  drawLabelsOver(context, frame, map, shown, "rows", rows, palette);
  drawLabelsOver(context, frame, map, shown, "columns", columns, palette);
}

function drawBox(context, { x, y, toX, toY }, palette) {
  context.strokeStyle = palette.accent;
  context.lineWidth = 1.5;
  context.setLineDash([4, 3]);
  context.strokeRect(Math.min(x, toX), Math.min(y, toY), Math.abs(toX - x), Math.abs(toY - y));
}

function inMap({ nRows, nColumns }, row, column) {
  return [Math.min(nRows - 1, Math.max(0, row)), Math.min(nColumns - 1, Math.max(0, column))];
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

function showTip(view, place) {
  const { tip, map, frame } = view;
  tip.replaceChildren();
  tip.hidden = !place;
  if (!place) return;
  if (place.axis === "cell") fillTip(view, place);
  else {
    const piece = map.header[place.axis][place.row + place.column + 1];
    tip.hidden = !isCut(view.marks.getContext("2d"), frame, piece, place.axis);
    tip.append(pieceNode(piece));
  }
  const [row, column] = inMap(map, place.row, place.column);
  const box = boxOf(frame, view.window, [row, row], [column, column]);
  const x = place.axis === "rows" ? 4 : box.x + box.width + 8;
  const y = place.axis === "columns" ? frame.plot.y + frame.plot.height : box.y + box.height + 8;
  const right = frame.width - tip.offsetWidth;
  tip.style.left = `${Math.max(0, x <= right ? x : Math.min(right, box.x - tip.offsetWidth - 8))}px`;
  const over = y + tip.offsetHeight > frame.height;
  tip.style.top = `${over ? Math.max(0, box.y - tip.offsetHeight - 8) : y}px`;
}

function fillTip(view, { row, column }) {
  const { map, tip } = view;
  const found = valueAt(map, view.window, row, column);
  const line = element("div");
  line.append(pieceNode(map.header.rows[found.row]), " → ");
  line.append(pieceNode(map.header.columns[found.column]), `: ${read(found)}`);
  const n = [found.rows, found.columns].map(([first, last]) => last - first + 1);
  if (Math.max(...n) === 1) {
    tip.append(line);
    return;
  }
  const block = element("div", "", `largest of ${n[0]} × ${n[1]}: ${read(found)}`);
  const where = `rows ${span(found.rows)}, columns ${span(found.columns)}`;
  tip.append(block, ...(Number.isNaN(found.value) ? [] : [line]), element("div", "dim", where));
}

function span([first, last]) {
  return first === last ? `${first}` : `${first}–${last}`;
}

function read({ value }) {
  return Number.isNaN(value) ? "masked" : value.toFixed(4).replace("-", "−");
}

function pieceNode(piece) {
  const node = element("span", "piece");
  setPiece(node, piece);
  return node;
}

// The cell at the cursor, for those who do not see it.
function describe(view, row, column) {
  const { map } = view;
  const found = valueAt(map, view.window, row, column);
  const { rows, columns } = map.header;
  const size = (found.rows[1] - found.rows[0] + 1) * (found.columns[1] - found.columns[0] + 1);
  const pooled = size > 1 ? `, largest of ${size} cells` : "";
  const text = `${rows[found.row][0]} → ${columns[found.column][0]}: ${read(found)}${pooled}`;
  view.cell.textContent = text;
  view.cell.setAttribute("aria-colindex", column + 1);
  view.line.setAttribute("aria-rowindex", row + 1);
  view.cell.setAttribute("aria-selected", String(String([row, column]) === String(view.selected)));
  return text;
}

// Where the keyboard stands: at first on the chosen cell, else on the first row's largest value.
function cursorOf(view) {
  const [top, , left] = view.window;
  const start = [top, Math.max(left, view.map.largest[top])];
  return inMap(view.map, ...(view.cursor ?? view.selected ?? start));
}

function moveCursor(view, row, column) {
  view.cursor = inMap(view.map, row, column);
  [row, column] = view.cursor;
  follow(view, row, column);
  view.live.textContent = describe(view, row, column);
  view.hover = null;
  drawMarks(view);
  showTip(view, { axis: "cell", row, column });
  tellToken(view, { axis: "cell", row, column });
}

// The window moves on when the cursor leaves it.
function follow(view, row, column) {
  const [top, bottom, left, right] = view.window;
  const down = Math.min(0, row - top) || Math.max(0, row + 1 - bottom);
  const across = Math.min(0, column - left) || Math.max(0, column + 1 - right);
  if (down || across) zoomTo(view, [top + down, bottom + down, left + across, right + across]);
}

function choose(view, row, column) {
  const found = valueAt(view.map, view.window, row, column);
  const cell = Number.isNaN(found.value) ? [row, column] : [found.row, found.column];
  view.clicked = Date.now();
  view.selected = cell;
  view.root.dataset.selected = String(cell);
  drawMarks(view);
  view.send("cell", cell);
}

function onMapKey(view, event) {
  if (event.ctrlKey || event.altKey || event.metaKey || !view.map) return;
  const [row, column] = cursorOf(view);
  const [down, across] = isExact(view.map, view.window) ? [1, 1] : view.map.header.block;
  const { nRows, nColumns } = view.map;
  const moves = {
    ArrowLeft: [row, column - across],
    ArrowRight: [row, column + across],
    ArrowUp: [row - down, column],
    ArrowDown: [row + down, column],
    Home: [row, 0],
    End: [row, nColumns - 1],
    PageUp: [0, column],
    PageDown: [nRows - 1, column],
  };
  const zooms = { "+": 0.5, "=": 0.5, "-": 2 };
  if (event.key in moves) moveCursor(view, ...moves[event.key]);
  else if (event.key === "Enter" || event.key === " ") choose(view, row, column);
  else if (event.key in zooms) zoomBy(view, zooms[event.key], row, column);
  else if (event.key === "0") zoomTo(view, wholeWindow(view.map));
  else return;
  event.preventDefault();
  event.stopPropagation();
}
