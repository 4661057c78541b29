// One element a head: where it stands and what is written in it.

import { element } from "../kit/page.js";
import { typeSize } from "../kit/room.js";
import { colourAt, paintChip } from "../kit/shade.js";
import { rankedColumns } from "./order.js";
import { metricOf, nameOf, spoken } from "./words.js";

const DENSE = 8; // more cells in a row stand closer, and units are left to the legend
const NAMED = 16; // of more columns, every second or fewer bears its name: they would overlap
const COLUMN = 6; // more layers of one map each would be a column that runs off the window

// The elements; kept as long as their number stays.
export function makeCells(section) {
  const [nLayers, nHeads] = section.thumbnails.shape;
  const size = `${nLayers}x${nHeads}`;
  if (size === section.size) return;
  section.size = size;
  section.arranged = null;
  section.cells = Array.from({ length: nLayers * nHeads }, (_, index) => {
    const cell = named("div", "cell", "gridcell");
    const place = { layer: Math.floor(index / nHeads), head: index % nHeads };
    return Object.assign(cell, { section, index, ...place });
  });
}

// Cells into rows: layers, or ranks, or layers that are one map each, several in a row; these and
// ranked ones bear their own names. Only a new arrangement moves elements.
export function layOut(section, width) {
  const { board, shown, cells } = section;
  const [nLayers, nHeads, nRows, nColumns] = section.thumbnails.shape;
  const ranked = shown.sort !== "layer";
  const isNamed = (section.isNamed = ranked || (nHeads === 1 && nLayers > COLUMN));
  board.classList.toggle("ranked", isNamed);
  board.style.setProperty("--shape", Math.min(1.5, Math.max(0.6, nColumns / nRows || 1)));
  const kept = shown.top ? section.kept : section.byRank;
  section.order = ranked ? kept : cells.map((_, i) => i);
  const n = section.order.length;
  section.columns = isNamed ? rankedColumns(n, nHeads, width - 48, 6) : nHeads;
  board.style.setProperty("--columns", section.columns);
  const isDense = section.columns > DENSE;
  board.classList.toggle("dense", isDense);
  section.gap = isNamed ? 6 : isDense ? 4 : 7;
  section.between = isNamed ? Math.ceil(2.4 * typeSize()) + 4 : section.gap; // both lines of names
  const arranged = `${isNamed} ${section.columns} ${section.order}`;
  if (arranged !== section.arranged) {
    section.arranged = arranged;
    const focused = board.getRootNode().activeElement;
    board.replaceChildren(section.canvas, ...(isNamed ? rowsOf(section) : layerRows(section)));
    if (focused?.isConnected && focused.index !== undefined) focused.focus(); // moving lost it
  }
}

function layerRows({ cells, header, thumbnails }) {
  const [nLayers, nHeads] = thumbnails.shape;
  const title = (head) => (header.lens.per_head ? `H${head}` : "all heads");
  const every = Math.ceil(nHeads / NAMED);
  const labels = cells.slice(0, nHeads).map(({ head }) => {
    const label = named("div", "label", "columnheader");
    label.append(element("span", head % every ? "hidden-text" : "", title(head)));
    return label;
  });
  const corner = named("div", "label", "columnheader");
  corner.append(element("span", "hidden-text", "layer"));
  const rows = Array.from({ length: nLayers }, (_, layer) =>
    line(
      named("div", "label", "rowheader", `L${header.layers[layer]}`),
      ...cells.slice(layer * nHeads, (layer + 1) * nHeads),
    ),
  );
  const heads = line(corner, ...labels);
  heads.classList.add("heads");
  return [heads, ...rows];
}

function rowsOf({ cells, order, columns }) {
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
export function fillCells(section) {
  const { board, shown, cells } = section;
  const metric = shown.show === "maps" ? null : metricOf(section, shown.show);
  board.classList.toggle("numbers", metric !== null);
  const values = metric && section.metric(shown.show);
  const most = metric && (metric.bound ?? (values[section.ranking(shown.show)[0]] || 1));
  const kept = new Set(section.kept);
  for (const cell of cells) {
    const dimmed = shown.top > 0 && !kept.has(cell.index);
    cell.classList.toggle("dimmed", dimmed);
    const value = metric && numberOf(section, metric, values[cell.index], cell);
    const parts = metric ? [element("span", "value", value)] : [];
    if (section.isNamed) parts.push(...captions(section, cell));
    if (parts.length || cell.firstChild) cell.replaceChildren(...parts);
    colour(cell, metric && !dimmed ? values[cell.index] / most : NaN, section, metric);
    cell.setAttribute("aria-label", spoken(cell));
  }
}

function colour(cell, share, { palette, difference }, metric) {
  // Numbers with a sign have a bound: 0 is in the middle.
  const at = metric?.bound ? [difference, (1 + share) / 2] : [palette.scale, share];
  if (!Number.isNaN(share)) paintChip(cell, colourAt(...at));
  else cell.style.background = cell.style.color = "";
}

// As short as a small cell needs it: the full text, with its unit, stands below the section.
function numberOf(section, metric, value, { index }) {
  const text = metric.texts[index];
  if (metric.unit === "share") return section.columns > DENSE ? text.replace(" %", "") : text;
  if (value >= 10) return value.toFixed(value >= 100 ? 0 : 1);
  return text.split(" ")[0];
}

function captions(section, cell) {
  const { show, by, sort } = section.shown;
  if (sort === "layer") return [element("span", "below", `L${section.header.layers[cell.layer]}`)];
  const above = element("span", "above");
  above.append(element("span", "", String(section.ranks[cell.index] + 1)));
  if (show !== by && section.columns <= DENSE) {
    const metric = metricOf(section, by);
    above.append(element("span", "", numberOf(section, metric, section.metric(by)[cell.index], cell)));
  }
  return [above, element("span", "below", nameOf(cell))];
}
