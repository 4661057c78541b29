// Where a head map's parts stand, and the labels along its two sides.

import { runOf } from "../kit/page.js";

const LABELLED_CELL = 26; // a cell is stretched to this before it gets smaller than its label
const USUAL = 540; // px: the height of a map that is not fitted
const LEAST = 360;
const LABEL_LINE = 1; // of the type's size: labels closer than this would meet
const AXIS_TITLE = 24; // px for the title of an axis, or more where type is large
const LABEL_GAP = 6;
const LEVEL_LABELS = 6; // more columns than these have upright labels

// plot: { x, y, width, height } of the cells; room: px for the labels of rows and of columns.
// type: the font's size; largest: of a cell, which is so many times as broad at most;
// least: its height at least; space: the height that there is for all of it. isWall: it is as wide
// as there is room for, and in the middle of that.
export function measureFrame(map, width, context, { family, type, largest, broadest, least = LEAST, space, isWall }) {
  const { nRows, nColumns, header } = map;
  context.font = `${type}px ${family}`;
  const rows = Math.min(widest(context, header.rows), 0.24 * width, 11 * type);
  const x = Math.ceil(titleRoom(type) + rows + LABEL_GAP);
  const across = (width - x - 8) / nColumns;
  const longest = widest(context, header.columns);
  const level = linesOf(longest, nColumns, isWall ? across : Math.min(across, 3 * largest), isWall);
  const columns = level ? level * (type + 3) : Math.min(longest, 8 * type);
  const below = Math.ceil(LABEL_GAP + columns + titleRoom(type));
  const height = space === Infinity ? USUAL : Math.max(least, space);
  const down = (height - below - 9) / nRows;
  const smallest = Math.min(across, down, largest);
  const broad = Math.max(level === 1 ? longest + 12 : 0, LABELLED_CELL, broadest * smallest);
  const plot = {
    y: 9,
    width: Math.floor(Math.min(across, Math.max(smallest, broad)) * nColumns),
    height: Math.floor(Math.min(down, Math.max(smallest, LABELLED_CELL)) * nRows),
  };
  const left = isWall ? Math.floor((width - 8 - x - plot.width) / 2) : 0;
  plot.x = x + left;
  return { width, height: plot.y + plot.height + below, plot, left, level, room: { rows, columns }, family, type };
}

function titleRoom(type) {
  return Math.max(AXIS_TITLE, Math.ceil(1.4 * type));
}

// Lines of level labels below the columns: 0 where they stand upright. From afar upright ones are
// hard to read, so there every second one may stand below its neighbours.
function linesOf(longest, nColumns, room, isWall) {
  if (!isWall && nColumns > LEVEL_LABELS) return 0;
  const gap = isWall ? 9 : 12; // letters of a wall are told apart from afar, each with less beside it
  if (longest < room - gap) return 1;
  return isWall && longest < 2 * room - gap ? 2 : 0;
}

function widest(context, pieces) {
  const labels = new Set(pieces.map(([label]) => label));
  return Math.ceil(Math.max(12, ...[...labels].map((label) => context.measureText(label).width)));
}

// Size in px of one row and one column of the window.
export function cellSize({ plot }, [top, bottom, left, right]) {
  return { width: plot.width / (right - left), height: plot.height / (bottom - top) };
}

// The box of rows and columns, from the first to the last of each.
export function boxOf(frame, window, [firstRow, lastRow], [firstColumn, lastColumn]) {
  const { plot } = frame;
  const { width, height } = cellSize(frame, window);
  return {
    x: plot.x + (firstColumn - window[2]) * width,
    y: plot.y + (firstRow - window[0]) * height,
    width: (lastColumn - firstColumn + 1) * width,
    height: (lastRow - firstRow + 1) * height,
  };
}

// What lies at a point: { axis: "cell", "rows" or "columns", row, column }, or null.
export function placeAt({ plot, height, left: start, type }, [top, bottom, left, right], x, y) {
  const column = left + Math.floor(((x - plot.x) / plot.width) * (right - left));
  const row = top + Math.floor(((y - plot.y) / plot.height) * (bottom - top));
  const [inRows, inColumns] = [row >= top && row < bottom, column >= left && column < right];
  if (inRows && inColumns) return { axis: "cell", row, column };
  if (inRows && x < plot.x && x > start + titleRoom(type)) return { axis: "rows", row, column: -1 };
  if (inColumns && y > plot.y + plot.height && y < height - titleRoom(type)) {
    return { axis: "columns", row: -1, column };
  }
  return null;
}

function labelEvery(size, { type }) {
  return Math.max(1, Math.ceil((LABEL_LINE * type) / size));
}

// Every n-th label where cells are smaller than text.
export function drawLabels(context, frame, map, window, palette) {
  const { width, height } = cellSize(frame, window);
  for (let row = window[0]; row < window[1]; row += labelEvery(height, frame)) {
    drawLabel(context, frame, map, window, "rows", row, palette);
  }
  for (let column = window[2]; column < window[3]; column += labelEvery(width, frame)) {
    drawLabel(context, frame, map, window, "columns", column, palette);
  }
  drawAxisTitles(context, frame, map, palette);
}

// colour: instead of the label's own, on a background that covers its neighbours.
function drawLabel(context, frame, map, window, axis, place, palette, colour) {
  const { plot, level, room, family, type } = frame;
  const { width, height } = cellSize(frame, window);
  context.save();
  context.textBaseline = "middle";
  const rows = axis === "rows";
  context.font = `${type}px ${family}`;
  if (rows) context.translate(plot.x - LABEL_GAP, plot.y + (place - window[0] + 0.5) * height);
  else {
    const x = plot.x + (place - window[2] + 0.5) * width;
    const line = level === 2 ? place % 2 : 0;
    context.translate(x, plot.y + plot.height + LABEL_GAP + (level ? 8 : 0) + line * (type + 3));
    if (!level) context.rotate(-Math.PI / 2);
  }
  const align = rows || !level ? "right" : "center";
  drawPiece(context, map.header[axis][place], level && !rows ? level * width : room[axis], align, palette, colour);
  context.restore();
}

// The labels of these places in a colour of their own; others that they would meet give way.
export function drawLabelsOver(context, frame, map, window, axis, places, palette) {
  const size = cellSize(frame, window)[axis === "rows" ? "height" : "width"];
  const [first, end] = axis === "rows" ? window.slice(0, 2) : window.slice(2);
  const shown = [...places].filter((place) => place >= first && place < end);
  const every = labelEvery(size, frame);
  for (const place of shown) {
    const before = first + Math.floor((place - first) / every) * every;
    for (const other of [before, before + every]) {
      const meets = other !== place && other < end && Math.abs(other - place) * size < LABEL_LINE * frame.type;
      if (meets) drawLabel(context, frame, map, window, axis, other, palette, palette.background);
    }
  }
  for (const place of shown) {
    drawLabel(context, frame, map, window, axis, place, palette, palette.accent);
  }
}

// One piece at the origin: ▁ and special tokens dimmed, what is too long with an ellipsis.
function drawPiece(context, [label, special], room, align, palette, colour) {
  const text = fitted(context, label, room);
  const space = text.startsWith("▁") ? "▁" : "";
  const rest = text.slice(space.length);
  const before = context.measureText(space).width;
  const width = before + context.measureText(rest).width;
  const x = align === "right" ? -width : -width / 2;
  const isLeftward = runOf(label) === "rtl"; // its first sign is the one on the right
  Object.assign(context, { direction: isLeftward ? "rtl" : "ltr", textAlign: "left" });
  if (colour) {
    context.fillStyle = palette.background;
    const half = parseInt(context.font) / 2 + 1;
    context.fillRect(x - 3, -half, width + 5, 2 * half + 1);
  }
  context.fillStyle = colour ?? (special ? palette.dim : palette.text);
  context.globalAlpha = 0.45;
  context.fillText(space, isLeftward ? x + width - before : x, 1);
  context.globalAlpha = 1;
  context.fillText(rest, isLeftward ? x : x + before, 1);
}

// A label that fits into `room` px; it is cut between characters as people count them.
function fitted(context, label, room) {
  if (context.measureText(label).width <= room + 1) return label;
  const characters = Array.from(new Intl.Segmenter().segment(label), ({ segment }) => segment);
  let n = characters.length - 1;
  while (n > 0 && context.measureText(characters.slice(0, n).join("") + "…").width > room) n--;
  return `${characters.slice(0, n).join("")}…`;
}

function drawAxisTitles(context, { plot, left, height, family, type }, { header }, palette) {
  context.save();
  context.font = `${type}px ${family}`;
  context.fillStyle = palette.dim;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const [rows, columns] = header.titles;
  context.fillText(columns, plot.x + plot.width / 2, height - type / 2 - 1);
  context.translate(left + type / 2 + 1, plot.y + plot.height / 2);
  context.rotate(-Math.PI / 2);
  // Beside few rows there is no place for more than the word "query".
  const fits = context.measureText(rows).width <= plot.height + 20;
  context.fillText(fits ? rows : rows.split(":")[0], 0, 0);
  context.restore();
}

// Whether a label is cut, so that it has to be shown in full when it is pointed at.
export function isCut(context, frame, [label], axis) {
  context.font = `${frame.type}px ${frame.family}`;
  return context.measureText(label).width > frame.room[axis] + 1;
}
