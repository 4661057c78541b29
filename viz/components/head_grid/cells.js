// One element a head: where it stands and what is written in it.

import { element } from "../kit/page.js";
import { colourAt, paintChip } from "../kit/shade.js";
import { rankedColumns } from "./order.js";
import { metricOf, nameOf, spoken } from "./words.js";

const DENSE = 8; // more cells in a row stand closer, and units are left to the legend

// The elements; kept as long as their number stays.
export function makeCells(grid) {
  const [nLayers, nHeads] = grid.thumbnails.shape;
  const size = `${nLayers}x${nHeads}`;
  if (size === grid.size) return;
  grid.size = size;
  grid.arranged = null;
  grid.cells = Array.from({ length: nLayers * nHeads }, (_, index) => {
    const cell = named("div", "cell", "gridcell");
    return Object.assign(cell, { index, layer: Math.floor(index / nHeads), head: index % nHeads });
  });
}

// Cells into rows: layers, or ranks. Only a new arrangement moves elements.
export function layOut(grid) {
  const { board, shown, cells } = grid;
  const [nLayers, nHeads, nRows, nColumns] = grid.thumbnails.shape;
  const ranked = shown.sort !== "layer";
  board.classList.toggle("ranked", ranked);
  board.classList.toggle("single", nHeads === 1);
  board.style.setProperty("--shape", Math.min(1.5, Math.max(0.6, nColumns / nRows || 1)));
  const kept = shown.top ? grid.kept : grid.byRank;
  grid.order = ranked ? kept : cells.map((_, i) => i);
  grid.columns = ranked ? rankedColumns(kept.length, nHeads, board.clientWidth, 6) : nHeads;
  board.style.setProperty("--columns", grid.columns);
  board.classList.toggle("dense", grid.columns > DENSE || (nHeads === 1 && nLayers > 6));
  const arranged = `${ranked} ${grid.columns} ${grid.order}`;
  if (arranged !== grid.arranged) {
    grid.arranged = arranged;
    const focused = board.getRootNode().activeElement;
    board.replaceChildren(grid.canvas, ...(ranked ? rankRows(grid) : layerRows(grid)));
    if (focused?.isConnected && focused.index !== undefined) focused.focus(); // moving lost it
  }
}

function layerRows({ cells, header, thumbnails }) {
  const [nLayers, nHeads] = thumbnails.shape;
  const title = (head) => (header.lens.per_head ? `H${head}` : "all heads");
  const labels = cells
    .slice(0, nHeads)
    .map(({ head }) => named("div", "label", "columnheader", title(head)));
  const corner = named("div", "label", "columnheader");
  corner.append(element("span", "hidden-text", "layer"));
  const rows = Array.from({ length: nLayers }, (_, layer) =>
    line(
      named("div", "label", "rowheader", `L${layer}`),
      ...cells.slice(layer * nHeads, (layer + 1) * nHeads),
    ),
  );
  return [line(corner, ...labels), ...rows];
}

function rankRows({ cells, order, columns }) {
  const n = Math.ceil(order.length / columns);
  return Array.from({ length: n }, (_, row) =>
    line(...order.slice(row * columns, (row + 1) * columns).map((i) => cells[i])),
  );
}

function line(...children) {
  const row = named("div", "line", "row");
  row.append(...children);
  return row;
}

export function named(tag, className, role, text) {
  const node = element(tag, className, text);
  node.setAttribute("role", role);
  return node;
}

// Numbers, colours, captions and names of all cells.
export function fillCells(grid) {
  const { board, shown, cells } = grid;
  const metric = shown.show === "maps" ? null : metricOf(grid, shown.show);
  board.classList.toggle("numbers", metric !== null);
  const values = metric && grid.metric(shown.show);
  const most = metric && (values[grid.ranking(shown.show)[0]] || 1);
  const kept = new Set(grid.kept);
  for (const cell of cells) {
    const dimmed = shown.top > 0 && !kept.has(cell.index);
    cell.classList.toggle("dimmed", dimmed);
    const value = metric && numberOf(grid, metric, values[cell.index], cell);
    const parts = metric ? [element("span", "value", value)] : [];
    if (shown.sort !== "layer") parts.push(...captions(grid, cell));
    if (parts.length || cell.firstChild) cell.replaceChildren(...parts);
    colour(cell, metric && !dimmed ? values[cell.index] / most : NaN, grid.palette);
    cell.setAttribute("aria-label", spoken(grid, cell));
  }
}

function colour(cell, share, palette) {
  if (!Number.isNaN(share)) paintChip(cell, colourAt(palette.scale, share));
  else cell.style.background = cell.style.color = "";
}

// As short as a small cell needs it: the full text, with its unit, stands below the grid.
function numberOf(grid, metric, value, { index }) {
  const text = metric.texts[index];
  if (metric.unit === "share") return grid.columns > DENSE ? text.replace(" %", "") : text;
  if (value >= 10) return value.toFixed(value >= 100 ? 0 : 1);
  return text.split(" ")[0];
}

function captions(grid, cell) {
  const { show, by } = grid.shown;
  const above = element("span", "above");
  above.append(element("span", "", String(grid.ranks[cell.index] + 1)));
  if (show !== by && grid.columns <= DENSE) {
    const metric = metricOf(grid, by);
    above.append(element("span", "", numberOf(grid, metric, grid.metric(by)[cell.index], cell)));
  }
  return [above, element("span", "below", nameOf(grid, cell))];
}
