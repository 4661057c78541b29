// The heads that are shown together: which, in which colour, and where their lines run.

import { element } from "../kit/page.js";
import { channels, paintChip } from "../kit/shade.js";

const MOST_LANE = 6; // px from one head's lines to the next one's

// The heads that can be shown; a map of a whole layer stands for every head.
export function shown({ map, heads }) {
  return map.header.per_head ? heads.filter((head) => head < map.nHeads) : [0];
}

// The line that is pointed at, here or in the picture beside it, [head, row, column]; null: none.
export function aimedOf({ aimed, linkedCell }, heads) {
  if (aimed) return aimed;
  return linkedCell && heads.length ? [heads[0], ...linkedCell] : null;
}

export function colourOf(view, head) {
  if (view.off.includes(head)) return view.palette.dim;
  return shown(view).length === 1 && shown(view)[0] === head
    ? view.ink
    : view.colours[head % view.colours.length];
}

// A head's mark: its number on its colour; none where only one is shown.
export function badge(view, head) {
  if (shown(view).length === 1) return null;
  const node = element("span", "badge", String(head));
  paintChip(node, channels(colourOf(view, head)));
  return node;
}

// Heads that are shown together run side by side, each in a lane of its own: they fan out at both
// ends. CSS pixels, of whole device pixels: a picture of lines that was kept moves to another lane.
export function shiftOf(view, head) {
  const heads = shown(view);
  const { ratio } = view.paint;
  return Math.round((heads.indexOf(head) - (heads.length - 1) / 2) * laneOf(view) * ratio) / ratio;
}

export function laneOf(view) {
  return Math.min(MOST_LANE, (view.pitch - 6) / shown(view).length);
}
