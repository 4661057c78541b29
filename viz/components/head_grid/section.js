// All heads of one kind of attention: what was sent of them, and their pictures on one canvas.

import { createImage, devicePixels, emptied } from "../kit/canvas.js";
import { element } from "../kit/page.js";
import { FULL, paintMap } from "../kit/shade.js";
import { marked } from "../kit/terms.js";
import { makeCells, named } from "./cells.js";
import { effective, ranking } from "./order.js";
import { sorted } from "./words.js";

export function createSection() {
  const section = { node: element("div", "section"), cells: [], order: [] };
  section.title = element("div", "title");
  section.board = named("div", "board", "grid");
  // One canvas below all cells: the browser composes each canvas anew in every frame.
  section.canvas = element("canvas");
  section.node.append(section.title, section.board);
  return section;
}

// section.metric(name): its numbers, one per head; section.ranking(name): indices, the largest
// first.
export function read(section, { header, arrays }) {
  const [thumbnails, strongest, values, metrics] = arrays;
  Object.assign(section, { header, thumbnails, strongest, values, metrics });
  section.title.replaceChildren(...marked(section.node, header.title, { only: [header.kind] }));
  makeCells(section);
  const n = section.cells.length;
  const rankings = {};
  section.metric = (name) => {
    const i = header.metrics.findIndex((metric) => metric.name === name);
    return metrics.subarray(i * n, (i + 1) * n);
  };
  section.ranking = (name) => (rankings[name] ??= ranking(section.metric(name)));
}

// Which heads are kept, and in which order.
export function show(section, view) {
  const { header, board, cells } = section;
  const shown = (section.shown = effective(view, header.metrics));
  section.byRank = shown.by === null ? cells.map((_, i) => i) : section.ranking(shown.by);
  section.kept = shown.top ? section.byRank.slice(0, shown.top) : section.byRank;
  section.ranks = new Int32Array(cells.length);
  section.byRank.forEach((index, rank) => (section.ranks[index] = rank));
  const [nLayers, nHeads] = section.thumbnails.shape;
  const layers = `${nLayers} layer${nLayers === 1 ? "" : "s"}`;
  const heads = `${nHeads} head${nHeads === 1 ? "" : "s"}`;
  const what = header.lens.per_head ? `${layers} of ${heads}` : layers;
  board.setAttribute("aria-label", `${header.name}: ${what}. ${sorted(section)}`.trim());
}

export function draw(section) {
  const { canvas, board, thumbnails, cells, order, table, header, shown } = section;
  if (shown.show !== "maps") return;
  const ratio = window.devicePixelRatio;
  const origin = board.getBoundingClientRect();
  if (!origin.width) return; // out of sight: a first visit has one kind
  const image = emptyImage(section, ...devicePixels(origin.width, origin.height));
  const [, , nRows, nColumns] = thumbnails.shape;
  const n = nRows * nColumns;
  const signed = header.lens.scale === "signed";
  for (const i of order) {
    const cell = cells[i].getBoundingClientRect();
    const [left, right] = [cell.left, cell.right].map((x) => Math.round((x - origin.left) * ratio));
    const [top, bottom] = [cell.top, cell.bottom].map((y) => Math.round((y - origin.top) * ratio));
    const box = { left, top, width: right - left, height: bottom - top };
    const bytes = thumbnails.subarray(i * n, (i + 1) * n);
    paintMap(image, box, bytes, nRows, nColumns, section.own ? stretched(table, bytes, signed) : table, signed);
  }
  canvas.getContext("2d").putImageData(image.data, 0, 0);
}

// The colours of bytes where the largest of these has the last colour.
function stretched(table, bytes, signed) {
  const middle = signed ? FULL / 2 : 0;
  const size = (byte) => (byte > FULL ? 0 : Math.abs(byte - middle));
  const most = bytes.reduce((found, byte) => Math.max(found, size(byte)), 0);
  if (!most) return table;
  const times = (FULL - middle) / most;
  return table.map((colour, byte) => (byte > FULL ? colour : (table[Math.round(middle + (byte - middle) * times)] ?? colour)));
}

// Kept as long as the board keeps its size: a new one for each sentence would have to be collected.
function emptyImage(section, width, height) {
  const { canvas, image } = section;
  if (image?.width === width && image.height === height) {
    image.pixels.fill(0);
    return image;
  }
  emptied(canvas, width, height);
  return (section.image = createImage(width, height));
}

// Of tokens [side, position], the last row and the last column among them are marked in all heads.
export function markToken({ board, header }, tokens) {
  const { sides, rows, columns } = header;
  mark(board, "row", sides.rows, rows.length, tokens);
  mark(board, "column", sides.columns, columns.length, tokens);
}

// sides: side -> of each position its row or column, -1 where it has none.
function mark(board, name, sides, n, tokens) {
  const places = tokens.map(([side, position]) => sides[side]?.[position] ?? -1);
  const place = places.findLast((each) => each >= 0) ?? -1;
  board.classList.toggle(`mark-${name}`, place >= 0);
  if (place < 0) return;
  board.style.setProperty(`--${name}`, `${(100 * place) / n}%`);
  board.style.setProperty(`--${name}-size`, `max(2px, ${100 / n}%)`);
}
