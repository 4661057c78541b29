// A heat map that arrows fold into, and that unfolds into arrows.

import { fold, foldName } from "../kit/fold.js";
import { leave, takeLeft } from "../kit/motion.js";
import { colourAt } from "../kit/shade.js";
import { boxOf } from "./frame.js";
import { isSigned } from "./values.js";

export function leaveCells(view) {
  if (view.place && view.frame) leave(view.place, { name: foldName(view.map.header), cells: cellsInRoot(view) });
}

export function foldLines(view) {
  const left = view.place && view.frame && takeLeft(view.place);
  if (!left?.lines || left.name !== foldName(view.map.header)) return;
  view.endFold = fold(view.root, view.stage, left.lines, cellsInRoot(view), true);
}

// Where a cell stands, in px from the corner of the component, and its colour.
function cellsInRoot({ frame, window: shown, origin: [left, top], palette, scale, map }) {
  const law = isSigned(map) ? (size) => (1 + size) / 2 : Math.sqrt;
  return {
    box: (row, column) => {
      const box = boxOf(frame, shown, [row, row], [column, column]);
      return { ...box, x: left + box.x, y: top + box.y };
    },
    colour: (size) => colourAt(scale ?? palette.scale, law(size)),
  };
}
