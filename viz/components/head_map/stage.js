// What every head map has: two canvases, a title and a legend, and a cursor that keys move.

import { element } from "../kit/page.js";
import { createReading } from "../kit/reading.js";
import { isOnStage, typeSize } from "../kit/room.js";
import { createSentence } from "../kit/sentence.js";
import { drawLabels, measureFrame } from "./frame.js";
import { drawMarks } from "./marks.js";
import { prepareCanvas } from "./paint.js";
import { eventPlace, point, tellToken } from "./pointing.js";
import { describe, read } from "./readout.js";
import { covers, inMap, isExact } from "./values.js";

const LARGEST_CELL = 64; // px
const BROADEST = 4; // times as broad as high: a cell on a stage, which is wide

// hint: how to use the keyboard, for those who do not see it.
export function createStage(hint) {
  const view = { selected: null, pins: [], cursor: null, hover: null, pointed: null, path: false };
  view.title = element("div", "title");
  view.cells = element("canvas");
  view.marks = element("canvas");
  for (const canvas of [view.cells, view.marks]) canvas.setAttribute("aria-hidden", "true");
  view.sentence = createSentence();
  view.tip = element("div", "tip");
  view.tip.setAttribute("aria-hidden", "true"); // the sentence says it in full
  view.tip.hidden = true;
  view.hint = element("span", "hidden-text", hint);
  view.hint.id = "hint";
  view.legend = element("div", "legend dim");
  view.reading = createReading();
  view.line = element("div", "hidden-text");
  view.line.setAttribute("role", "row");
  view.cell = element("div");
  view.cell.id = "cell";
  view.cell.setAttribute("role", "gridcell");
  view.line.append(view.cell);
  view.stage = element("div", "stage");
  view.stage.append(view.cells, view.marks, view.tip, view.line);
  nameStage(view.stage);
  return view;
}

// A grid of which only the cell at the cursor is there, as its rows may be thousands.
function nameStage(stage) {
  stage.tabIndex = 0;
  stage.setAttribute("role", "grid");
  stage.setAttribute("aria-activedescendant", "cell");
  stage.setAttribute("aria-describedby", "hint");
}

// move(row, column): what a cursor does that comes to a cell.
export function listenToStage(view, move) {
  const { stage } = view;
  stage.onpointermove = (event) => point(view, eventPlace(view, event));
  stage.onpointerleave = () => point(view, null);
  stage.onfocus = () => stage.matches(":focus-visible") && move(...cursorOf(view));
  stage.onblur = () => {
    Object.assign(view, { cursor: null, hover: null });
    drawMarks(view);
    read(view);
    tellToken(view, null);
  };
}

// All but the cells, on canvases as wide as a node. space: the height that there is for it, in px.
export function drawStage(view, node, space = Infinity) {
  const { map, cells, marks, stage, palette } = view;
  const type = typeSize();
  const family = getComputedStyle(node).fontFamily;
  const look = isOnStage()
    ? { largest: 6 * type, broadest: BROADEST, least: 10 * type, isWall: true }
    : { largest: LARGEST_CELL, broadest: 1, isWall: false };
  view.frame = measureFrame(map, node.clientWidth, cells.getContext("2d"), { ...look, family, type, space });
  const [width, height] = [view.frame.width, view.frame.height].map((size) => `${size}px`);
  stage.style.height = height;
  for (const { style } of [cells, marks]) Object.assign(style, { width, height });
  drawLabels(prepareCanvas(cells, view.frame), view.frame, map, view.window, palette);
}

// Where the keyboard stands: at first on the chosen cell, else on the first row's largest value.
export function cursorOf({ map, window: shown, cursor, selected }) {
  const [top, , left] = shown;
  const start = [top, Math.max(left, map.largest?.[top] ?? left)];
  const [row, column] = cursor ?? selected ?? start;
  const inside = covers(shown, [row, row + 1, column, column + 1]);
  return inMap(map, ...(inside ? [row, column] : start));
}

export function moveCursor(view, wantedRow, wantedColumn) {
  view.cursor = inMap(view.map, wantedRow, wantedColumn);
  const [row, column] = view.cursor;
  describe(view, row, column);
  view.hover = null;
  drawMarks(view);
  read(view);
  tellToken(view, { axis: "cell", row, column });
}

// The cell that a key leads to from the cursor; undefined where it is no such key.
export function cellAfter(view, key) {
  const [row, column] = cursorOf(view);
  const [down, across] = isExact(view.map, view.window) ? [1, 1] : view.map.header.block;
  return {
    ArrowLeft: [row, column - across],
    ArrowRight: [row, column + across],
    ArrowUp: [row - down, column],
    ArrowDown: [row + down, column],
    Home: [row, 0],
    End: [row, view.map.nColumns - 1],
  }[key];
}
