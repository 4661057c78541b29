// Where one head follows another, its lines move there.

import { play } from "../kit/motion.js";
import { shown } from "./heads.js";
import { canMove } from "./moving.js";
import { drawBase, linesShown } from "./picture.js";
import { drawActive } from "./pointing.js";

// To be called before what is shown is drawn. view.moving: { map, head, share } while lines move,
// of the head that they come from.
export function follow(view) {
  const last = view.single;
  const heads = shown(view);
  view.single = heads.length === 1 ? { map: view.map, nonce: view.nonce, head: heads[0] } : null;
  const now = view.single;
  if (now?.nonce === last?.nonce && now?.head === last?.head) return;
  view.endMoving?.();
  view.moving = null;
  if (!now || !last || !view.paint || !areAlike(view, last, now)) return;
  view.endMoving = play((share) => {
    view.moving = share < 1 ? { map: last.map, head: last.head, share } : null;
    if (share === 0) return; // it is drawn next
    drawBase(view);
    drawActive(view, heads);
  });
}

// The same tokens under the same measure, and few enough lines.
function areAlike({ controls }, last, now) {
  const [before, after] = [last.map.header, now.map.header];
  if (before.text !== after.text || before.bound !== after.bound) return false;
  const perRow = Number(controls.lines.value);
  return canMove(...[last, now].map(({ map, head }) => linesShown(map, head, perRow)));
}
