// Arrows become the cells of a heat map, and cells become arrows: each line turns into the cell of
// its weight.

import { element } from "./page.js";
import { mix, play } from "./motion.js";

const MOST = 400; // lines: the strongest; a frame has no time for more

// What a picture leaves, or has: { name, lines, box } of a text's name; lines: [{ row, column, size,
// from: [x, y], to, thick, ink, shade }] of arrows, else null; box(row, column): { x, y, width,
// height } of a map's cell, with colour(size), else null. All in px from the root's corner.

export function foldName({ rows, columns }) {
  return JSON.stringify([rows, columns]);
}

// Plays it over what `shown` holds, which comes to sight meanwhile.
export function fold(root, shown, lines, cells, isFolding) {
  const strongest = [...lines].sort((a, b) => b.size - a.size).slice(0, MOST).reverse();
  const canvas = element("canvas", "fold");
  canvas.dataset.control = ""; // no figure shows it
  const [width, height] = sizeOf(strongest, cells);
  const ratio = window.devicePixelRatio;
  Object.assign(canvas, { width: width * ratio, height: height * ratio });
  const place = { position: "absolute", left: 0, top: 0, width: `${width}px`, height: `${height}px` };
  Object.assign(canvas.style, place, { pointerEvents: "none" });
  root.style.position = "relative";
  root.append(canvas);
  const context = canvas.getContext("2d");
  return play((share) => {
    context.reset();
    context.scale(ratio, ratio);
    for (const line of strongest) stroke(context, between(line, cells, isFolding ? share : 1 - share));
    shown.style.opacity = share < 1 ? share ** 3 : "";
    if (share === 1) canvas.remove();
  });
}

function sizeOf(lines, { box }) {
  let [width, height] = [1, 1];
  for (const { row, column, from, to } of lines) {
    const cell = box(row, column);
    width = Math.max(width, to[0], cell.x + cell.width);
    height = Math.max(height, from[1] + 12, to[1] + 12, cell.y + cell.height);
  }
  return [Math.ceil(width), Math.ceil(height)];
}

// A line on its way to its cell: share 0 is the line, 1 the cell.
export function between(line, { box, colour }, share) {
  const cell = box(line.row, line.column);
  const middle = cell.y + cell.height / 2;
  const [from, to] = [[cell.x, middle], [cell.x + cell.width, middle]];
  const ends = (a, b) => a.map((value, i) => mix(value, b[i], share));
  return {
    from: ends(line.from, from),
    to: ends(line.to, to),
    thick: mix(line.thick, cell.height, share ** 2), // late, or all would be covered on the way
    shade: mix(line.shade, 1, share ** 2),
    ink: ends(line.ink, colour(line.size)),
  };
}

function stroke(context, { from, to, thick, shade, ink }) {
  const third = (to[0] - from[0]) / 3;
  context.globalAlpha = shade;
  context.strokeStyle = `rgb(${ink.map(Math.round).join(" ")})`;
  context.lineWidth = thick;
  context.beginPath();
  context.moveTo(...from);
  context.bezierCurveTo(from[0] + third, from[1], to[0] - third, to[1], ...to);
  context.stroke();
}
