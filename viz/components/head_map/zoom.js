// The window that a head map shows, and how it is drawn anew.

import { cornerOf, roomBelow } from "../kit/room.js";
import { tell } from "../kit/sync.js";
import { announceSight } from "../kit/twin.js";
import { foldLines } from "./folding.js";
import { drawMarks } from "./marks.js";
import { drawCells } from "./paint.js";
import { read, tellState } from "./readout.js";
import { drawStage } from "./stage.js";
import { fitWindow, isExact, isSmall, regionAround } from "./values.js";

const SETTLED = 200; // ms without a further zoom before exact values are asked for

// The window becomes `factor` times as large; the cell keeps its place in it.
export function zoomBy(view, factor, row, column) {
  const [top, bottom, left, right] = view.window;
  const side = (first, end, at) => {
    const size = (end - first) * factor;
    const start = at + 0.5 - ((at + 0.5 - first) / (end - first)) * size;
    return [start, start + size];
  };
  zoomTo(view, [...side(top, bottom, row), ...side(left, right, column)]);
}

export function zoomTo(view, wanted) {
  if (!turnTo(view, wanted)) return;
  const [top, bottom, left, right] = view.window;
  announceSight(view, { rows: [top, bottom - 1], columns: [left, right - 1] });
}

// The picture beside it shows another window: the same words are shown here.
export function followSight(view, { rows, columns }) {
  const [top, bottom, left, right] = view.window;
  const [down, across] = [rows ?? [top, bottom - 1], columns ?? [left, right - 1]];
  turnTo(view, [down[0], down[1] + 1, across[0], across[1] + 1]);
}

// Returns whether it was another window.
function turnTo(view, wanted) {
  const next = fitWindow(view.map, wanted);
  if (String(next) === String(view.window)) return false;
  view.window = next;
  view.hover = null;
  draw(view);
  askLater(view);
  return true;
}

// Exact values are asked for once the window rests.
export function askLater(view) {
  clearTimeout(view.timer);
  const { map, window: shown, asks, sync } = view;
  if (!asks || isExact(map, shown) || !isSmall(shown)) return;
  const { opened } = sync; // the address may be another by then, which has a region of its own
  const ask = () => sync.opened === opened && tell(sync, "region", regionAround(map, shown));
  view.timer = setTimeout(ask, SETTLED);
}

export function draw(view) {
  view.width = view.root.clientWidth;
  if (!view.width) return; // not shown; the observer calls again
  const start = performance.now();
  view.origin = cornerOf(view.stage, view.root);
  drawStage(view, view.root, roomBelow(view.stage) - view.legend.offsetHeight - 8);
  drawCells(view);
  tellState(view);
  drawMarks(view);
  read(view);
  view.root.dataset.drawMs = (performance.now() - start).toFixed(1);
  view.root.dataset.nonce = view.nonce;
  redrawWithFonts(view);
  if (!view.isSeen) foldLines(view);
  view.isSeen = true;
}

// Canvas text does not follow when the page's font arrives.
function redrawWithFonts(view) {
  if (document.fonts.status === "loaded") return;
  document.fonts.ready.then(() => view.root.isConnected && draw(view));
}
