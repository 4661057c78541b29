// All heads at once: small pictures or numbers, by layer or by rank.

import { createImage, devicePixels, emptied } from "../kit/canvas.js";
import { host } from "../kit/host.js";
import { applyPalette, element, onToken } from "../kit/page.js";
import { hasModifier, moveStop, takeKey } from "../kit/roving.js";
import { announceSentence, createSentence } from "../kit/sentence.js";
import { paintMap, pixelTable } from "../kit/shade.js";
import { accepts, tell } from "../kit/sync.js";
import { unpack } from "../kit/unpack.js";
import { fillCells, layOut, makeCells, named } from "./cells.js";
import { effective, gridPlaceAfter, indexOf, ranking } from "./order.js";
import { createToolbar, setToolbar } from "./toolbar.js";
import { describe, explain, sorted } from "./words.js";

export default host("head_grid", create, update);

function create(root, sync) {
  const grid = { root, sync, cells: [], selected: [0, 0] };
  grid.toolbar = createToolbar((view) => change(grid, view));
  grid.board = named("div", "board", "grid");
  // One canvas below all cells: the browser composes each canvas anew in every frame.
  grid.canvas = element("canvas");
  grid.sentence = createSentence();
  grid.numbers = element("div", "telling dim");
  grid.legend = element("div", "legend dim");
  root.replaceChildren(
    grid.sentence.node, grid.toolbar.node, grid.board, grid.numbers, grid.legend,
  );
  const observer = new ResizeObserver(() => resized(grid));
  observer.observe(grid.board);
  const silence = onToken((token) => markToken(grid, token));
  grid.dispose = () => {
    observer.disconnect();
    silence();
    grid.sentence.end();
    announceSentence(null);
  };
  listen(grid);
  return grid;
}

function listen(grid) {
  const { board } = grid;
  board.onclick = ({ target }) => choose(grid, target.closest(".cell"));
  board.onkeydown = (event) => onKey(grid, event);
  board.onpointerover = ({ target }) => describe(grid, target.closest(".cell"));
  board.onpointerleave = () => describe(grid, null);
  board.onfocusin = ({ target }) => describe(grid, target.closest(".cell"));
  board.onfocusout = () => describe(grid, null);
}

function update(grid, { nonce, palette, difference, speaks, selected, view, payload }) {
  const drawn = `${nonce} ${palette.name}`;
  const isNew = drawn !== grid.drawn;
  grid.speaks = speaks;
  grid.sentence.node.hidden = !speaks;
  if (isNew) {
    grid.drawn = drawn;
    const { header, arrays } = unpack(payload);
    const [thumbnails, strongest, values, metrics, telling] = arrays;
    Object.assign(grid, { header, thumbnails, strongest, values, metrics, telling, nonce, palette });
    recolour(grid, header.lens.scale === "signed" ? difference : palette.scale);
    makeCells(grid);
    readMetrics(grid);
  }
  const isMoved = accepts(grid.sync, "view", view) && !isSame(view, grid.view);
  if (isMoved) grid.view = view;
  if (isNew || isMoved) show(grid);
  const isOther = accepts(grid.sync, "open", selected) && !isSame(selected, grid.selected);
  if (isNew || isMoved || isOther) select(grid, isOther ? selected : grid.selected);
}

function isSame(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

function recolour(grid, scale) {
  const colours = `${grid.palette.name} ${scale}`;
  if (colours === grid.colours) return;
  Object.assign(grid, { colours, scale, table: pixelTable({ ...grid.palette, scale }) });
  applyPalette(grid.root, grid.palette);
}

// grid.metric(name): its numbers, one per head; grid.ranking(name): indices, the largest first.
function readMetrics(grid) {
  const n = grid.cells.length;
  const rankings = {};
  grid.metric = (name) => {
    const i = grid.header.metrics.findIndex((metric) => metric.name === name);
    return grid.metrics.subarray(i * n, (i + 1) * n);
  };
  grid.ranking = (name) => (rankings[name] ??= ranking(grid.metric(name)));
}

// Everything but the selection, as the view wants it.
function show(grid) {
  const { header, board, cells } = grid;
  const shown = (grid.shown = effective(grid.view, header.metrics));
  grid.byRank = shown.by === null ? cells.map((_, i) => i) : grid.ranking(shown.by);
  grid.kept = shown.top ? grid.byRank.slice(0, shown.top) : grid.byRank;
  grid.ranks = new Int32Array(cells.length);
  grid.byRank.forEach((index, rank) => (grid.ranks[index] = rank));
  setToolbar(grid.toolbar, header.metrics, shown, grid.view.top);
  layOut(grid);
  fillCells(grid);
  const [nLayers, nHeads] = grid.thumbnails.shape;
  const what = header.lens.per_head ? `${nLayers} layers of ${nHeads} heads` : `${nLayers} layers`;
  board.setAttribute("aria-label", `${what}. ${sorted(grid)}`.trim());
  Object.assign(grid.root.dataset, { show: shown.show, sort: shown.sort, top: shown.top });
  explain(grid);
  draw(grid);
}

function resized(grid) {
  if (!grid.board.clientWidth || !grid.cells.length) return;
  layOut(grid); // ranked heads may stand in other rows
  draw(grid);
}

function draw(grid) {
  if (!grid.board.clientWidth || !grid.cells.length) return; // not shown; the observer calls again
  const start = performance.now();
  if (grid.shown.show === "maps") drawMaps(grid);
  grid.root.dataset.drawMs = (performance.now() - start).toFixed(1);
  grid.root.dataset.nonce = grid.nonce;
}

function drawMaps(grid) {
  const { canvas, board, thumbnails, cells, order, table, header } = grid;
  const ratio = window.devicePixelRatio;
  const origin = board.getBoundingClientRect();
  const image = emptyImage(grid, ...devicePixels(origin.width, origin.height));
  const [, , nRows, nColumns] = thumbnails.shape;
  const n = nRows * nColumns;
  const signed = header.lens.scale === "signed";
  for (const i of order) {
    const cell = cells[i].getBoundingClientRect();
    const [left, right] = [cell.left, cell.right].map((x) => Math.round((x - origin.left) * ratio));
    const [top, bottom] = [cell.top, cell.bottom].map((y) => Math.round((y - origin.top) * ratio));
    const box = { left, top, width: right - left, height: bottom - top };
    const bytes = thumbnails.subarray(i * n, (i + 1) * n);
    paintMap(image, box, bytes, nRows, nColumns, table, signed);
  }
  canvas.getContext("2d").putImageData(image.data, 0, 0);
}

// Kept as long as the board keeps its size: a new one for each sentence would have to be collected.
function emptyImage(grid, width, height) {
  const { canvas, image } = grid;
  if (image?.width === width && image.height === height) {
    image.pixels.fill(0);
    return image;
  }
  emptied(canvas, width, height);
  return (grid.image = createImage(width, height));
}

// The user chose what is shown. A metric that is not on offer here stays wished for.
function change(grid, chosen) {
  const { show: now, sort, by } = grid.shown;
  grid.view = {
    show: chosen.show === now ? grid.view.show : chosen.show,
    sort: chosen.sort === sort ? grid.view.sort : chosen.sort,
    top: by === null ? grid.view.top : chosen.top,
  };
  show(grid);
  select(grid, grid.selected);
  tell(grid.sync, "view", grid.view);
}

function select(grid, [layer, head]) {
  const [nLayers] = grid.thumbnails.shape;
  grid.selected = [Math.min(layer, nLayers - 1), head];
  const selected = indexOf(grid, grid.selected);
  const stop = grid.order.includes(selected) ? selected : grid.order[0];
  for (const cell of grid.cells) {
    cell.setAttribute("aria-selected", String(cell.index === selected));
    cell.tabIndex = cell.index === stop ? 0 : -1;
  }
  grid.root.dataset.selected = `${layer},${head}`;
  describe(grid, null);
}

function choose(grid, cell) {
  if (!cell) return;
  // A map of a whole layer stands for the head that is open.
  const chosen = [cell.layer, grid.header.lens.per_head ? cell.head : grid.selected[1]];
  select(grid, chosen);
  tell(grid.sync, "open", chosen);
}

function onKey(grid, event) {
  const cell = event.target.closest(".cell");
  if (!cell || hasModifier(event)) return;
  const { order, columns, cells, shown } = grid;
  if (event.key === "Enter" || event.key === " ") choose(grid, cell);
  else if (/^(Arrow|Home$|End$)/.test(event.key)) {
    const place = order.indexOf(cell.index);
    const to = gridPlaceAfter(event.key, place, order.length, columns, shown.sort !== "layer");
    if (to !== undefined) moveStop(cell, cells[order[to]]);
  } else return;
  takeKey(event);
}

// A token pointed at elsewhere: its row or column is marked in every picture.
function markToken(grid, { side, position }) {
  if (!grid.header) return;
  const { sides, rows, columns } = grid.header;
  mark(grid.board, "row", sides.rows[side], rows.length, position);
  mark(grid.board, "column", sides.columns[side], columns.length, position);
}

// places: of each position its row or column, -1 where it has none.
function mark(board, name, places, n, position) {
  const place = position === null ? -1 : (places?.[position] ?? -1);
  board.classList.toggle(`mark-${name}`, place >= 0);
  if (place < 0) return;
  board.style.setProperty(`--${name}`, `${(100 * place) / n}%`);
  board.style.setProperty(`--${name}-size`, `max(2px, ${100 / n}%)`);
}
