// With the tool that cuts, the line under the pointer stands out, and a click tells which it is. Of
// two pictures beside each other it stands out in both, whatever the tool.

import { shiftOf, shown } from "./heads.js";
import { MAX_POINTED, linesAt, lookOf } from "./lines.js";
import { linesShown } from "./picture.js";
import { drawActive } from "./pointing.js";

const REACH = 7; // px from the pointer to the middle of a line
const TOUCH = 2; // px at which the pointer is on a line: of those that cross there the strongest

// take, aimAt: told a line [head, row, column] that is clicked, and that is pointed at (null: none).
export function onLine(view, take, aimAt) {
  const { wires } = view;
  let cutAt = null; // where a line was cut last: another one near it is meant once the pointer moves
  const isThere = ({ clientX, clientY }) => cutAt && Math.hypot(clientX - cutAt[0], clientY - cutAt[1]) <= TOUCH;
  const aim = (event) => {
    if (!event || !isThere(event)) cutAt = null;
    const isAsked = event && !cutAt && view.map && (view.tool === "arrows" || view.twin);
    const line = isAsked ? lineUnder(view, event) : null;
    if (line?.join() === view.aimed?.join()) return;
    view.aimed = line;
    wires.classList.toggle("aimed", line !== null && view.tool === "arrows");
    aimAt(line);
    drawActive(view, shown(view));
  };
  wires.onpointermove = aim;
  wires.onpointerleave = () => aim(null);
  wires.onclick = (event) => {
    aim(event); // a touch has not moved before
    if (!view.aimed || view.tool !== "arrows") return;
    take(view.aimed);
    aim(null);
    cutAt = [event.clientX, event.clientY];
  };
}

// [head, query, key] of all that a line stands for: a word may be of several pieces.
export function cellsOf({ rows_of, columns_of, closed }, [head, row, column]) {
  const masked = new Set(closed.map((cell) => cell.join()));
  const cells = rows_of[row].flatMap((query) => columns_of[column].map((key) => [head, query, key]));
  return cells.filter(([, query, key]) => !masked.has(`${query},${key}`));
}

function lineUnder(view, event) {
  const box = view.wires.getBoundingClientRect();
  return nearest(view, event.clientX - box.left, event.clientY - box.top, box.width);
}

// [head, row, column] of the nearest line to a point of the picture in px, where several meet of the
// strongest; null: none is near.
export function nearest(view, x, y, width) {
  const heads = shown(view);
  const each = Math.floor(MAX_POINTED / Math.max(1, heads.length));
  const perRow = Number(view.controls.lines.value);
  let [found, least, most] = [null, REACH - TOUCH, 0];
  for (const head of heads) {
    const { rows, columns, values } = view.active?.length
      ? linesAt(view.map, head, view.active, each)
      : linesShown(view.map, head, perRow);
    for (let i = 0; i < values.length; i++) {
      const size = Math.abs(values[i]);
      if (lookOf(size / view.map.header.bound).shade < 0.1) continue; // hardly seen
      const away = Math.max(0, distance(view, head, rows[i], columns[i], x / width, y, width) - TOUCH);
      if (away > least || (away === least && size <= most)) continue;
      [found, least, most] = [[head, rows[i], columns[i]], away, size];
    }
  }
  return found;
}

// From a point to the curve of lines.js, whose height is t² (3 - 2 t), along its normal.
function distance(view, head, row, column, t, y, width) {
  const place = (end) => (end + 0.5) * view.pitch - view.box.scrollTop + shiftOf(view, head);
  const rise = place(column) - place(row);
  const slope = (rise * 6 * t * (1 - t)) / width;
  return Math.abs(y - place(row) - rise * t * t * (3 - 2 * t)) / Math.hypot(1, slope);
}
