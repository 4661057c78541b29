// How large the picture is, and how far it has scrolled.

import { devicePixels } from "../kit/canvas.js";
import { cornerOf, isNarrow, isOnStage, roomBelow, typeSize } from "../kit/room.js";
import { announceSight } from "../kit/twin.js";
import { unfoldCells } from "./folding.js";
import { createPaint } from "./lines.js";
import { drawBase } from "./picture.js";
import { isolateTokens } from "./pointing.js";
import { leaveOut, measureRooms } from "./tokens.js";

const USUAL = 560; // px of a picture that is not fitted; longer columns scroll
const NARROW_SHARE = 0.45; // of the height of a narrow screen, on which tokens stand above it, too
const LEAST = 360;
const [TWIN_SHARE, TWIN_LEAST] = [0.27, 180]; // of two below each other: a word of both is in sight at once
const PITCHES = [1, 2.6]; // of the type's size, the least and the most from token to token
const WALL_PITCHES = [0, 3.6]; // the same there, where nobody scrolls: names in between are left out
const CLOSE = 0.85; // of the type's size, from one name to the next
const LARGEST_TYPE = 1.6; // times the usual size: of few tokens on a wall
const USUAL_TYPE = 14; // px; on a wall lines are thicker as the type is larger

// How far tokens stand from each other: as the room allows in which all are to be seen at once.
export function fit(view) {
  const { nRows, nColumns } = view.map;
  const [type, isWall] = [typeSize(), isOnStage()];
  const room = roomBelow(view.box) - view.legend.offsetHeight - 8;
  const usual = isNarrow() ? Math.min(USUAL, NARROW_SHARE * window.innerHeight) : USUAL;
  view.height = Math.max(isWall ? 10 * type : LEAST, room === Infinity ? usual : room);
  const n = Math.max(nRows, nColumns);
  const edges = isWall && n * type > view.height ? type : 0; // of the first name and the last one
  const wanted = Math.floor((view.height - edges) / n);
  const [least, most] = (isWall ? WALL_PITCHES : PITCHES).map((times) => Math.round(times * type));
  view.pitch = Math.max(least + 2, Math.min(most, wanted));
  if (isNarrow() && view.twin) {
    view.height = Math.min(view.height, Math.max(TWIN_LEAST, TWIN_SHARE * window.innerHeight));
  }
  const { style } = view.stage;
  style.setProperty("--pitch", `${view.pitch}px`);
  style.setProperty("--height", `${Math.min(view.height, n * view.pitch)}px`);
  const large = isWall ? Math.min(LARGEST_TYPE * type, view.pitch / 1.9) : 1.125 * type;
  style.setProperty("--type", `${view.pitch > 1.5 * type ? Math.max(type, large) : type}px`);
  view.box.style.setProperty("--box", `${view.height}px`);
  leaveOut(view.tokens, { every: Math.ceil((CLOSE * type) / view.pitch) });
}

// All sizes are read here, and only here: to read one lays the page out anew.
export function resize(view) {
  if (!view.map) return;
  fit(view);
  const ratio = window.devicePixelRatio;
  const [width, height] = devicePixels(view.wires.clientWidth, view.wires.clientHeight);
  const times = isOnStage() ? typeSize() / USUAL_TYPE : 1;
  const name = [width, height, ratio, view.pitch, times].join();
  if (!width || !height) return; // not shown; the observer calls again
  measureRooms(view.tokens);
  view.origin = [...cornerOf(view.wires, view.root), width / ratio];
  view.top = view.box.scrollTop * ratio;
  if (name !== view.size) {
    view.size = name;
    view.paint = createPaint(width, height, ratio, Math.ceil((view.pitch / 2) * ratio), times);
    for (const canvas of [view.base, view.overlay]) Object.assign(canvas, { width, height });
    view.layers.clear();
  }
  drawBase(view);
  isolateTokens(view);
  if (!view.isSeen) unfoldCells(view);
  view.isSeen = true;
}

// While it scrolls only each token's strongest line is drawn, to keep up.
export function scrolled(view) {
  clearTimeout(view.rest);
  view.rest = setTimeout(() => {
    view.isScrolling = false;
    drawBase(view);
  }, 120);
  view.isScrolling = true;
  if (view.box.scrollTop !== view.followed) {
    const first = view.box.scrollTop / view.pitch;
    announceSight(view, { rows: [first], columns: [first] });
  }
  view.followed = null;
  view.top = view.box.scrollTop * window.devicePixelRatio;
  cancelAnimationFrame(view.frame);
  view.frame = requestAnimationFrame(() => {
    drawBase(view);
    isolateTokens(view);
  });
}

// The picture beside it was scrolled: the same query is the first one in sight here, or, where the
// queries are others, the same key.
export function followSight(view, { rows, columns }) {
  const [first] = rows ?? columns ?? [];
  if (first === undefined) return;
  view.box.scrollTop = first * view.pitch;
  view.followed = view.box.scrollTop; // as far as it could
}
