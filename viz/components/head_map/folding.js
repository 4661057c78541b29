// A heat map that arrows fold into, and that unfolds into arrows.

import { fold, foldName } from "../kit/fold.js";
import { takePlace } from "../kit/place.js";
import { colourAt } from "../kit/shade.js";
import { boxOf } from "./frame.js";
import { isSigned } from "./values.js";

// To be called once, when it has been drawn; view.leave is what to call when it is gone.
export function foldLines(view) {
  if (!view.place) return;
  const name = () => foldName(view.map.header);
  const { before, leave } = takePlace(view.place, () => ({ name: name(), cells: cellsInRoot(view) }));
  view.leave = leave;
  if (!before?.lines || before.name !== name()) return;
  view.endFold = fold(view.root, view.stage, before.lines, cellsInRoot(view), true);
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
