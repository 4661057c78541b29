// The canvases: all shown heads below, and the lines that stand out above them.

import { element } from "../kit/page.js";
import { colourOf, shiftOf, shown } from "./heads.js";
import { developed, linesOf, paintLines } from "./lines.js";
import { between } from "./moving.js";

// Each head's lines are drawn once and kept: to show or hide one only lays the pictures together.
export function drawBase(view) {
  if (!view.paint) return; // not shown yet
  const perRow = view.isScrolling ? 1 : Number(view.controls.lines.value);
  const source = `${view.drawn} ${perRow} ${view.top}`;
  if (source !== view.source) {
    view.source = source;
    view.layers.clear();
  }
  const context = view.base.getContext("2d");
  if (view.moving) {
    paintHead(view, shown(view)[0], movedLines(view, (map, head) => linesShown(map, head, perRow)));
    return context.putImageData(developed(view.paint), 0, -view.paint.margin);
  }
  context.clearRect(0, 0, view.base.width, view.base.height);
  const { ratio, margin } = view.paint;
  for (const head of shown(view)) {
    context.drawImage(layerOf(view, head, perRow), 0, Math.round(shiftOf(view, head) * ratio) - margin);
  }
  view.root.dataset.nonce = view.nonce;
}

// In the middle lane: wherever it is laid, it is the same picture.
function layerOf(view, head, perRow) {
  const colour = colourOf(view, head);
  const kept = view.layers.get(head);
  if (kept?.colour === colour) return kept.canvas;
  const canvas = element("canvas");
  Object.assign(canvas, { width: view.paint.width, height: view.paint.height });
  paintHead(view, head, linesShown(view.map, head, perRow), 0);
  canvas.getContext("2d").putImageData(developed(view.paint), 0, 0);
  view.layers.set(head, { canvas, colour });
  return canvas;
}

// shift: px of its lane from the middle of a row.
export function paintHead(view, head, lines, shift = shiftOf(view, head)) {
  const { paint, map, pitch, top } = view;
  const place = { pitch: pitch * paint.ratio, top, shift: shift * paint.ratio };
  paintLines(paint, lines, colourOf(view, head), map.header.bound, place);
}

// On their way from the head that was shown before; find(map, head): those of either.
export function movedLines({ map, heads, moving }, find) {
  return between(find(moving.map, moving.head), find(map, heads[0]), moving.share);
}

export function linesShown(map, head, perRow) {
  map.lines ??= new Map();
  const name = `${head} ${perRow}`;
  if (!map.lines.has(name)) map.lines.set(name, linesOf(map, head, perRow));
  return map.lines.get(name);
}
