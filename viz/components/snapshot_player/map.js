// The map of one head at one step: the same picture as a head map, with nothing to choose or zoom.

import { element } from "../kit/page.js";
import { isOnStage, roomBelow, typeSize } from "../kit/room.js";
import { marked } from "../kit/terms.js";
import { hasModifier, takeKey } from "../kit/roving.js";
import { drawMarks } from "../head_map/marks.js";
import { drawCells, valueTable } from "../head_map/paint.js";
import { describe, explain, read } from "../head_map/readout.js";
import {
  cellAfter,
  createStage,
  cursorOf,
  drawStage,
  listenToStage,
  moveCursor,
} from "../head_map/stage.js";
import { isPooled, mostOf, wholeWindow } from "../head_map/values.js";
import { count } from "./words.js";

const LEGEND = 3.5; // of the type's size: its height
const MAP_HINT = "Arrow keys move from cell to cell. Outside the map they move from step to step.";

export function createStepMap(root) {
  const view = { ...createStage(MAP_HINT), root };
  listenToStage(view, (row, column) => moveCursor(view, row, column));
  view.stage.onclick = view.stage.onpointermove; // a finger does not hover
  view.stage.onkeydown = (event) => onStageKey(view, event);
  view.node = element("section", "large");
  const bar = element("div", "bar");
  bar.append(view.title);
  view.node.append(bar, view.sentence.node, view.stage, view.legend);
  return view;
}

// Everything but the values, which a step brings.
export function drawStepMap(view, data, palette) {
  const { stage, node } = view;
  if (view.map && view.map.header.tokens !== data.header.tokens) {
    Object.assign(view, { cursor: null, hover: null, pointed: null });
  }
  view.palette = palette;
  view.map = mapAt(data, 0);
  view.window = wholeWindow(view.map);
  view.table = valueTable(palette.scale, palette.masked);
  view.space = spaceOf(view);
  drawStage(view, node, view.space);
  stage.setAttribute("aria-rowcount", view.map.nRows);
  stage.setAttribute("aria-colcount", view.map.nColumns);
  explain(view);
  const [down, across] = data.header.block;
  view.pooled.textContent = isPooled(view.map)
    ? `each cell is the ${mostOf(view.map)} of ${down} × ${across}`
    : "";
}

// Whether it is as high as there is room for: what is said above it may have become longer.
export function isFitted(view) {
  return view.space === spaceOf(view);
}

function spaceOf({ stage }) {
  return isOnStage() ? roomBelow(stage) - LEGEND * typeSize() : Infinity;
}

export function showStep(view, data, place) {
  const { header } = data;
  view.map = mapAt(data, place);
  const step = element("span", "dim", ` · step ${count(header.steps[place])}`);
  const title = marked(view.root, ` ${header.title}`, { only: [header.kind] });
  view.title.replaceChildren(element("strong", "", header.name), ...title, step);
  view.stage.setAttribute("aria-label", `Step ${count(header.steps[place])}: ${header.says[place]}`);
  drawCells(view);
  drawMarks(view);
  const { x, y, width, height } = view.frame.plot;
  Object.assign(view.root.dataset, { id: header.id, plot: String([x, y, width, height]) });
  describe(view, ...cursorOf(view));
  read(view);
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
    strongest: header.strongest[place],
    nRows: header.rows.length,
    nColumns: header.columns.length,
  };
}

function onStageKey(view, event) {
  if (hasModifier(event) || !view.map) return;
  const to = cellAfter(view, event.key);
  if (!to) return;
  moveCursor(view, ...to);
  takeKey(event);
}
