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
  view.drafts.give(data);
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
  view.drafts = withDrafts("head_map", (bytes) => update(view, openEnvelope(bytes)));
  view.dispose = () => {
    clearTimeout(view.timer);
    observer.disconnect();
    silence();
    view.drafts.end();
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
    recolour(view, isSigned(view.map) ? difference : palette.scale);
    keepWindow(view, before);
    name(view);
  }
  Object.assign(view, { asks, path });
  if (Date.now() - view.clicked > WAIT_FOR_SERVER || String(cell) === String(view.selected)) {
    view.selected = cell;
  }
  view.root.dataset.selected = String(view.selected ?? "");
  explain(view);
  if (repaint || !view.frame) {
    draw(view);
    readAgain(view);
  } else {
    tellState(view);
    drawMarks(view);
  }
}

// A table of 1,024 colours is made once, and not for each sentence.
function recolour(view, scale) {
  const colours = `${view.palette.name} ${scale}`;
  if (colours === view.colours) return;
  Object.assign(view, { colours, scale, table: valueTable(scale, view.palette.masked) });
  applyPalette(view.root, { ...view.palette, scale });
}

// What the keyboard or a resting pointer is at may have another value now.
function readAgain(view) {
  if (!view.frame) return;
  if (view.cursor) moveCursor(view, ...view.cursor);
  else showTip(view, view.hover);
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

// Where the keyboard stands: at first on the chosen cell, else on the first row's largest value.
function cursorOf(view) {
  const [top, , left] = view.window;
  const start = [top, Math.max(left, view.map.largest[top])];
  const [row, column] = view.cursor ?? view.selected ?? start;
  const inside = covers(view.window, [row, row + 1, column, column + 1]);
  return inMap(view.map, ...(inside ? [row, column] : start));
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
