// Arrows that fold into the heat map that takes their place, and unfold from it.

import { fold, foldName } from "../kit/fold.js";
import { takePlace } from "../kit/place.js";
import { channels } from "../kit/shade.js";
import { colourOf, shiftOf, shown } from "./heads.js";
import { lookOf } from "./lines.js";
import { linesShown } from "./picture.js";

// To be called once, when it has been drawn; view.leave is what to call when it is gone.
export function unfoldCells(view) {
  if (!view.place) return;
  const name = () => foldName(view.map.header);
  const { before, leave } = takePlace(view.place, () => ({ name: name(), lines: linesInRoot(view) }));
  view.leave = leave;
  if (!before?.cells || before.name !== name()) return;
  view.endFold = fold(view.root, view.box, linesInRoot(view), before.cells, false);
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
