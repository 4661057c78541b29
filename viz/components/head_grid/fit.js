// How large the cells are: as the room allows in which all kinds are to be seen at once.

import { isFew, isNarrow, isOnStage, roomBelow, typeSize } from "../kit/room.js";

const LARGEST = 104; // px
const LEAST = 44; // px: rather than smaller, the page scrolls
const SIDE = 48; // of a section, left of its cells: its name and the numbers of its layers
const HEADING = 20; // above its cells: the numbers of its heads
const BETWEEN = 20; // sections
const NARROW_SHARE = 0.6; // of a narrow screen's height, where the large picture stands below

export function fit(grid) {
  const { boards, numbers, legend } = grid;
  const sections = isFew() ? [grid.section ?? grid.sections[0]] : grid.sections;
  const width = boards.clientWidth;
  const below = numbers.offsetHeight + legend.offsetHeight + 14;
  const shapes = sections.map(shapeOf);
  const height = isNarrow() ? NARROW_SHARE * window.innerHeight : roomBelow(boards) - below;
  const cell = largest(shapes, width, height, isOnStage() ? typeSize() : LEAST); // there nothing scrolls
  boards.style.setProperty("--cell", `${Math.floor(cell)}px`);
}

// Of the cells of a section: how many stand beside and below each other, in how much besides.
function shapeOf({ columns, order, thumbnails, gap, between }) {
  const [, , nRows, nColumns] = thumbnails.shape;
  const shape = Math.min(1.5, Math.max(0.6, nColumns / nRows || 1));
  return { columns, lines: Math.ceil(order.length / columns), shape, gap, between };
}

// The largest width of a cell, over all numbers of sections that may stand side by side.
export function largest(shapes, width, height, least = LEAST) {
  const sizes = shapes.map((_, i) => sizeOf(shapes, i + 1, width, height));
  const whole = sizeOf(shapes, 1, width, Infinity);
  return Math.min(LARGEST, Math.max(...sizes, Math.min(least, whole)));
}

function sizeOf(shapes, nBeside, width, height) {
  const own = width / nBeside - BETWEEN * (nBeside > 1) - SIDE;
  const across = Math.min(...shapes.map(({ columns, gap }) => own / columns - gap));
  let [fixed, perWidth] = [0, 0];
  for (let i = 0; i < shapes.length; i += nBeside) {
    const beside = shapes.slice(i, i + nBeside);
    fixed += HEADING + Math.max(...beside.map(({ lines, between }) => lines * between));
    perWidth += Math.max(...beside.map(({ lines, shape }) => lines / shape));
  }
  return Math.min(across, (height - fixed) / perWidth);
}
