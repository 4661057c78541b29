// One head large: point at a cell to read it, click to choose it, drag a box to look closer.

import { host } from "../kit/host.js";
import { applyPalette, element, onToken } from "../kit/page.js";
import { placeOf } from "../kit/place.js";
import { onRoom } from "../kit/room.js";
import { hasModifier, takeKey } from "../kit/roving.js";
import { onSwipe } from "../kit/swipe.js";
import { accepts, tell } from "../kit/sync.js";
import { marked } from "../kit/terms.js";
import { onSight } from "../kit/twin.js";
import { illustrate } from "./illustrate.js";
import { drawMarks } from "./marks.js";
import { beforeOpening, openFromGrid } from "./opening.js";
import { valueTable } from "./paint.js";
import {
  choose,
  clicked,
  doubleClicked,
  dropBox,
  pointerMoved,
  pressed,
  released,
  wheeled,
} from "./pointer.js";
import { hear } from "./pointing.js";
import { describe, explain, read, tellState } from "./readout.js";
import { cellAfter, createStage, cursorOf, listenToStage, moveCursor } from "./stage.js";
import { inMap, isExact, isSigned, isSmall, readMap, wholeWindow } from "./values.js";
import { askLater, draw, followSight, zoomBy, zoomTo } from "./zoom.js";

const HINT =
  "Arrow keys move from cell to cell, Enter chooses one, plus and minus zoom, 0 shows the whole map.";

export default host("head_map", create, update);

function create(root, sync) {
  const view = { ...createStage(HINT), root, sync, place: placeOf(root) };
  view.back = element("button", "back", "whole map");
  view.back.type = "button";
  view.waiting = element("span", "waiting dim", "loading exact values");
  const corner = element("div", "corner");
  corner.dataset.control = "";
  corner.append(view.waiting, view.back);
  root.replaceChildren(view.sentence.node, corner, view.stage, view.legend);
  const endRoom = onRoom(view.stage, () => view.map && draw(view));
  const silence = onToken((token) => hear(view, token));
  const endSight = onSight(view, (sight) => followSight(view, sight));
  view.redraw = () => draw(view);
  view.illustrate = (what) => illustrate(view, what);
  view.dispose = () => {
    clearTimeout(view.timer);
    endRoom();
    silence();
    endSight();
    view.sentence.end();
    view.endFold?.();
    view.leave?.();
  };
  listen(view);
  return view;
}

function listen(view) {
  const { stage } = view;
  listenToStage(view, (row, column) => moveTo(view, row, column));
  stage.onpointermove = (event) => pointerMoved(view, event);
  stage.onpointerdown = (event) => pressed(view, event);
  stage.onpointerup = (event) => released(view, event);
  stage.onpointercancel = () => dropBox(view);
  onSwipe(stage, (by) => tell(view.sync, "turn", by));
  stage.onclick = (event) => clicked(view, event);
  stage.ondblclick = (event) => doubleClicked(view, event);
  stage.addEventListener("wheel", (event) => wheeled(view, event), { passive: false });
  stage.onkeydown = (event) => onMapKey(view, event);
  view.back.onclick = () => {
    zoomTo(view, wholeWindow(view.map));
    stage.focus();
  };
}

function update(view, { nonce, palette, difference, asks, cell, pins, path, own_scale, is_off: isOff, twin, payload }) {
  const drawn = `${nonce} ${palette.name} ${own_scale}`;
  const repaint = drawn !== view.drawn;
  const picture = repaint ? beforeOpening(view) : null;
  if (repaint) {
    const before = view.map;
    Object.assign(view, { drawn, nonce, palette, map: readMap(payload, own_scale) });
    recolour(view, isSigned(view.map) ? difference : palette.scale);
    keepWindow(view, before);
    name(view);
  }
  Object.assign(view, { asks, path, pins, isOff, twin });
  view.root.dataset.pins = pins.join();
  if (accepts(view.sync, "cell", cell)) view.selected = cell;
  view.root.dataset.selected = String(view.selected ?? "");
  explain(view);
  view.legend.prepend(view.title);
  if (repaint || !view.frame) {
    draw(view);
    if (view.frame && view.cursor) moveTo(view, ...view.cursor); // its value is another now
    openFromGrid(view, picture);
  } else {
    tellState(view);
    drawMarks(view);
    read(view);
  }
}

// A table of 1,024 colours is made once, and not for each sentence.
function recolour(view, scale) {
  const colours = `${view.palette.name} ${scale}`;
  if (colours === view.colours) return;
  const table = valueTable(scale, view.palette.masked, isSigned(view.map));
  Object.assign(view, { colours, scale, table });
  applyPalette(view.root, { ...view.palette, scale });
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
  const title = marked(view.root, ` ${header.title}`, { only: [header.kind] });
  view.title.replaceChildren(element("strong", "", header.name), ...title);
  for (const note of header.notes) view.title.append(element("span", "dim", ` · ${note}`));
  view.stage.setAttribute("aria-label", header.says);
  view.stage.setAttribute("aria-rowcount", nRows);
  view.stage.setAttribute("aria-colcount", nColumns);
  describe(view, ...cursorOf(view));
}

// The window moves on when the cursor leaves it.
function moveTo(view, wantedRow, wantedColumn) {
  const [row, column] = inMap(view.map, wantedRow, wantedColumn);
  const [top, bottom, left, right] = view.window;
  const down = Math.min(0, row - top) || Math.max(0, row + 1 - bottom);
  const across = Math.min(0, column - left) || Math.max(0, column + 1 - right);
  if (down || across) zoomTo(view, [top + down, bottom + down, left + across, right + across]);
  moveCursor(view, row, column);
}

function onMapKey(view, event) {
  if (hasModifier(event) || !view.map) return;
  const [row, column] = cursorOf(view);
  const far = { PageUp: [0, column], PageDown: [view.map.nRows - 1, column] };
  const to = far[event.key] ?? cellAfter(view, event.key);
  const zooms = { "+": 0.5, "=": 0.5, "-": 2 };
  if (to) moveTo(view, ...to);
  else if (event.key === "Enter" || event.key === " ") choose(view, row, column);
  else if (event.key in zooms) zoomBy(view, zooms[event.key], row, column);
  else if (event.key === "0") zoomTo(view, wholeWindow(view.map));
  else return;
  takeKey(event);
}
