// The map of one head at one step: the same picture as a head map, with nothing to choose or zoom.

const MAP_HINT = "Arrow keys move from cell to cell. Outside the map they move from step to step.";

function createStepMap(root) {
  const view = { root, selected: null, cursor: null, hover: null, pointed: null, path: false };
  view.title = element("div", "title");
  view.cells = element("canvas");
  view.marks = element("canvas");
  for (const canvas of [view.cells, view.marks]) canvas.setAttribute("aria-hidden", "true");
  view.tip = element("div", "tip");
  view.tip.setAttribute("aria-hidden", "true"); // the live region says the same
  view.tip.hidden = true;
  view.hint = element("span", "hidden-text", MAP_HINT);
  view.hint.id = "hint";
  view.cell = element("div");
  view.cell.id = "cell";
  view.cell.setAttribute("role", "gridcell");
  view.line = element("div", "hidden-text");
  view.line.setAttribute("role", "row");
  view.line.append(view.cell);
  view.live = element("div", "hidden-text");
  view.live.setAttribute("aria-live", "polite");
  view.legend = element("div", "legend dim");
  view.stage = stepStage(view);
  view.node = element("section", "large");
  const bar = element("div", "bar");
  bar.append(view.title);
  view.node.append(bar, view.stage, view.legend, view.live);
  return view;
}

// A grid of which only the cell at the cursor is there.
function stepStage(view) {
  const stage = element("div", "stage");
  stage.tabIndex = 0;
  stage.setAttribute("role", "grid");
  stage.setAttribute("aria-activedescendant", "cell");
  stage.setAttribute("aria-describedby", "hint");
  stage.append(view.cells, view.marks, view.tip, view.line);
  stage.onpointermove = (event) => pointerMoved(view, event);
  stage.onclick = (event) => point(view, eventPlace(view, event)); // a finger does not hover
  stage.onpointerleave = () => point(view, null);
  stage.onkeydown = (event) => onStageKey(view, event);
  stage.onfocus = () => stage.matches(":focus-visible") && moveCursor(view, ...(view.cursor ?? [0, 0]));
  stage.onblur = () => {
    view.cursor = null;
    point(view, null);
  };
  return stage;
}

// Everything but the values, which a step brings.
function drawStepMap(view, data, palette) {
  const { stage, cells, marks, node } = view;
  if (view.map && view.map.header.tokens !== data.header.tokens) {
    Object.assign(view, { cursor: null, hover: null, pointed: null });
  }
  view.palette = palette;
  view.map = mapAt(data, 0);
  view.window = wholeWindow(view.map);
  view.table = valueTable(palette.scale, palette.masked);
  view.frame = measureFrame(view.map, node.clientWidth, cells.getContext("2d"), getComputedStyle(node).fontFamily);
  const { width, height } = view.frame;
  stage.style.height = `${height}px`;
  for (const canvas of [cells, marks]) {
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  drawLabels(prepareCanvas(cells, view.frame), view.frame, view.map, view.window, palette);
  stage.setAttribute("aria-rowcount", view.map.nRows);
  stage.setAttribute("aria-colcount", view.map.nColumns);
  explain(view);
  const [down, across] = data.header.block;
  view.pooled.textContent = isPooled(view.map)
    ? `each cell is the ${mostOf(view.map)} of ${down} × ${across}`
    : "";
}

function showStep(view, data, place) {
  const { header } = data;
  view.map = mapAt(data, place);
  const step = element("span", "dim", ` · step ${count(header.steps[place])}`);
  view.title.replaceChildren(element("strong", "", header.name), ` ${header.title}`, step);
  view.stage.setAttribute("aria-label", `Step ${count(header.steps[place])}: ${header.says[place]}`);
  drawCells(view.cells.getContext("2d"), view.frame, view.map, view.window, view.table, view.palette);
  drawMarks(view);
  const { x, y, width, height } = view.frame.plot;
  Object.assign(view.root.dataset, { id: header.id, plot: String([x, y, width, height]) });
  describe(view, ...(view.cursor ?? [0, 0]));
  // What the keyboard or a resting pointer is at has another value now.
  if (view.cursor) showTip(view, { axis: "cell", row: view.cursor[0], column: view.cursor[1] });
  else showTip(view, view.hover);
}

// One step as map_values.js reads a map.
function mapAt({ header, values, places }, place) {
  const [, nRows, nColumns] = values.shape;
  const part = [place * nRows * nColumns, (place + 1) * nRows * nColumns];
  const shown = values.subarray(...part);
  shown.shape = [nRows, nColumns];
  return {
    header,
    values: shown,
    places: places?.subarray(...part),
    nRows: header.rows.length,
    nColumns: header.columns.length,
  };
}

function moveCursor(view, row, column) {
  view.cursor = inMap(view.map, row, column);
  const place = { axis: "cell", row: view.cursor[0], column: view.cursor[1] };
  view.live.textContent = describe(view, ...view.cursor);
  view.hover = null;
  drawMarks(view);
  showTip(view, place);
  tellToken(view, place);
}

function onStageKey(view, event) {
  if (event.ctrlKey || event.altKey || event.metaKey || !view.map) return;
  const [row, column] = view.cursor ?? [0, 0];
  const [down, across] = view.map.header.block;
  const moves = {
    ArrowLeft: [row, column - across],
    ArrowRight: [row, column + across],
    ArrowUp: [row - down, column],
    ArrowDown: [row + down, column],
    Home: [row, 0],
    End: [row, view.map.nColumns - 1],
  };
  if (!moves[event.key]) return;
  moveCursor(view, ...moves[event.key]);
  event.preventDefault();
  event.stopPropagation();
}
