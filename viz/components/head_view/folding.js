// Arrows that fold into the heat map that takes their place, and unfold from it.

import { fold, foldName } from "../kit/fold.js";
import { leave, takeLeft } from "../kit/motion.js";
import { channels } from "../kit/shade.js";
import { colourOf, shiftOf, shown } from "./heads.js";
import { lookOf } from "./lines.js";
import { linesShown } from "./picture.js";

export function leaveLines(view) {
  if (view.place && view.paint) leave(view.place, { name: foldName(view.map.header), lines: linesInRoot(view) });
}

export function unfoldCells(view) {
  const left = view.place && view.paint && takeLeft(view.place);
  if (!left?.cells || left.name !== foldName(view.map.header)) return;
  view.endFold = fold(view.root, view.box, linesInRoot(view), left.cells, false);
}

// The lines that are in sight, in px from the corner of the component.
function linesInRoot(view) {
  const { map, pitch, origin } = view;
  const [left, top, width] = origin;
  const perRow = Number(view.controls.lines.value);
  const found = [];
  for (const head of shown(view)) {
    const ink = channels(colourOf(view, head));
    const y = (place) => (place + 0.5) * pitch - view.top / window.devicePixelRatio + shiftOf(view, head);
    const { rows, columns, values } = linesShown(map, head, perRow);
    rows.forEach((row, i) => {
      const column = columns[i];
      const [from, to] = [y(row), y(column)];
      if (Math.min(from, to) < 0 || Math.max(from, to) > view.height) return; // scrolled away
      const size = Math.min(1, Math.abs(values[i]) / map.header.bound);
      const ends = { from: [left, top + from], to: [left + width, top + to] };
      found.push({ row, column, size, ink, ...ends, ...lookOf(size) });
    });
  }
  return found;
}
