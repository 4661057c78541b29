// A head that is opened in the grid: its map grows out of its cell there, and the map that was shown
// goes back into its own.

import { element } from "../kit/page.js";
import { LASTS, isCalm, isLeft, takeLeft } from "../kit/motion.js";

const OPENED = "opened";
const EASING = "ease-in-out";

// Before the map is drawn anew: the old one as it stands. Null where nothing is to be seen moving.
export function beforeOpening(view) {
  return view.frame && isLeft(OPENED) && !isCalm() ? pictureOf(view) : null;
}

function pictureOf(view) {
  const box = boxOnScreen(view);
  const ratio = view.cells.width / view.frame.width;
  const { x, y, width, height } = view.frame.plot;
  const copy = element("canvas");
  Object.assign(copy, { width: Math.round(width * ratio), height: Math.round(height * ratio) });
  copy.getContext("2d").drawImage(view.cells, -Math.round(x * ratio), -Math.round(y * ratio));
  return { copy, box };
}

// After it. before: the picture of the head that was shown.
export function openFromGrid(view, before) {
  const opened = before && takeLeft(OPENED);
  if (opened?.name !== view.map.header.id) return;
  fly(before, before.box, opened.back, 0);
  const now = pictureOf(view);
  fly(now, opened.from, now.box, 1);
  view.cells.animate([{ opacity: 0 }, { opacity: 0, offset: 0.8 }, { opacity: 1 }], LASTS);
}

// opacity: at the end; at the start it is 1, as what is in the cell is the same picture.
function fly({ copy, box }, from, to, opacity) {
  if (!from || !to) return;
  const { style } = copy;
  Object.assign(style, { position: "fixed", left: `${box.x}px`, top: `${box.y}px`, zIndex: 10 });
  Object.assign(style, { width: `${box.width}px`, height: `${box.height}px`, pointerEvents: "none" });
  style.transformOrigin = "0 0";
  document.body.append(copy);
  const at = (other) => {
    const move = `translate(${other.x - box.x}px, ${other.y - box.y}px)`;
    return `${move} scale(${other.width / box.width}, ${other.height / box.height})`;
  };
  const frames = [{ transform: at(from) }, { transform: at(to), opacity }];
  const flight = copy.animate(frames, { duration: LASTS, easing: EASING });
  flight.onfinish = flight.oncancel = () => copy.remove();
}

function boxOnScreen({ stage, frame: { plot } }) {
  const { left, top } = stage.getBoundingClientRect();
  return { x: left + plot.x, y: top + plot.y, width: plot.width, height: plot.height };
}
