// All heads as small pictures: rows are layers, columns are heads.

const WAIT_FOR_SERVER = 1500; // ms in which an older answer does not take a click back
const grids = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".head-grid");
  if (!grids.has(root)) grids.set(root, create(root));
  const grid = grids.get(root);
  grid.open = (cell) => setTriggerValue("open", cell);
  update(grid, openEnvelope(data));
  return () => {
    grid.dispose();
    grids.delete(root);
    root.replaceChildren();
  };
}

function create(root) {
  const board = element("div", "board");
  board.setAttribute("role", "grid");
  // One canvas below all cells: the browser composes each canvas anew in every frame.
  const canvas = element("canvas");
  const readout = element("div", "readout");
  const legend = element("div", "legend dim");
  root.replaceChildren(board, readout, legend);
  const grid = { root, board, canvas, readout, legend, cells: [], selected: [0, 0], clicked: 0 };
  const observer = new ResizeObserver(() => draw(grid));
  observer.observe(board);
  const silence = onToken((token) => markToken(grid, token));
  grid.dispose = () => {
    observer.disconnect();
    silence();
  };
  board.onclick = ({ target }) => choose(grid, target.closest(".cell"));
  board.onkeydown = (event) => onKey(grid, event);
  board.onpointerover = ({ target }) => describe(grid, target.closest(".cell"));
  board.onpointerleave = () => describe(grid, null);
  board.onfocusin = ({ target }) => describe(grid, target.closest(".cell"));
  return grid;
}

function update(grid, { nonce, palette, selected, payload }) {
  const drawn = `${nonce} ${palette.name}`;
  if (drawn !== grid.drawn) {
    grid.drawn = drawn;
    const { header, arrays } = unpack(payload);
    const [thumbnails, strongest, weights] = arrays;
    Object.assign(grid, { header, thumbnails, strongest, weights, nonce });
    grid.table = pixelTable(palette);
    applyPalette(grid.root, palette);
    arrange(grid);
    explain(grid);
    draw(grid);
  }
  if (Date.now() - grid.clicked > WAIT_FOR_SERVER || same(selected, grid.selected)) {
    select(grid, selected);
  }
}

// One element a head; kept as long as their number stays.
function arrange(grid) {
  const [nLayers, nHeads, nRows, nColumns] = grid.thumbnails.shape;
  const size = `${nLayers}x${nHeads}`;
  grid.board.style.setProperty("--heads", nHeads);
  grid.board.style.setProperty("--shape", Math.min(1.5, Math.max(0.6, nColumns / nRows)));
  grid.board.classList.toggle("dense", nHeads > 8);
  if (size !== grid.size) {
    grid.size = size;
    grid.cells = [];
    const numbers = Array.from({ length: nHeads }, (_, head) => head);
    const labels = numbers.map((head) => named("div", "label", "columnheader", `H${head}`));
    const corner = named("div", "label", "columnheader");
    corner.append(element("span", "hidden-text", "layer"));
    const top = line(corner, ...labels);
    const rows = Array.from({ length: nLayers }, (_, layer) =>
      line(
        named("div", "label", "rowheader", `L${layer}`),
        ...numbers.map((head) => addCell(grid, layer, head)),
      ),
    );
    grid.board.replaceChildren(grid.canvas, top, ...rows);
    select(grid, [Math.min(grid.selected[0], nLayers - 1), Math.min(grid.selected[1], nHeads - 1)]);
  }
  grid.board.setAttribute("aria-label", `${nLayers} layers of ${nHeads} heads`);
  for (const cell of grid.cells) cell.setAttribute("aria-label", spoken(grid, cell));
}

function line(...children) {
  const row = named("div", "line", "row");
  row.append(...children);
  return row;
}

function named(tag, className, role, text) {
  const node = element(tag, className, text);
  node.setAttribute("role", role);
  return node;
}

function addCell(grid, layer, head) {
  const cell = named("div", "cell", "gridcell");
  cell.layer = layer;
  cell.head = head;
  grid.cells.push(cell);
  return cell;
}

function draw(grid) {
  if (!grid.board.clientWidth || !grid.cells.length) return; // not shown; the observer calls again
  const start = performance.now();
  const { canvas, board } = grid;
  const ratio = window.devicePixelRatio;
  const origin = board.getBoundingClientRect();
  canvas.width = Math.round(origin.width * ratio); // this empties the canvas
  canvas.height = Math.round(origin.height * ratio);
  const context = canvas.getContext("2d");
  const [, , nRows, nColumns] = grid.thumbnails.shape;
  const n = nRows * nColumns;
  grid.cells.forEach((cell, i) => {
    const box = cell.getBoundingClientRect();
    const [left, right] = [box.left, box.right].map((x) => Math.round((x - origin.left) * ratio));
    const [top, bottom] = [box.top, box.bottom].map((y) => Math.round((y - origin.top) * ratio));
    const image = new ImageData(right - left, bottom - top);
    const bytes = grid.thumbnails.subarray(i * n, (i + 1) * n);
    const pixels = new Uint32Array(image.data.buffer);
    paintMap(pixels, image.width, image.height, bytes, nRows, nColumns, grid.table);
    context.putImageData(image, left, top);
  });
  grid.root.dataset.drawMs = (performance.now() - start).toFixed(1);
  grid.root.dataset.nonce = grid.nonce;
}

function select(grid, [layer, head]) {
  grid.selected = [layer, head];
  for (const cell of grid.cells) {
    const chosen = cell.layer === layer && cell.head === head;
    cell.setAttribute("aria-selected", String(chosen));
    cell.tabIndex = chosen ? 0 : -1;
  }
  grid.root.dataset.selected = `${layer},${head}`;
  describe(grid, null);
}

function choose(grid, cell) {
  if (!cell) return;
  grid.clicked = Date.now();
  select(grid, [cell.layer, cell.head]);
  grid.open([cell.layer, cell.head]);
}

function onKey(grid, event) {
  const cell = event.target.closest(".cell");
  if (!cell || event.ctrlKey || event.altKey || event.metaKey) return;
  const [nLayers, nHeads] = grid.thumbnails.shape;
  const { layer, head } = cell;
  const moves = {
    ArrowLeft: [layer, head - 1],
    ArrowRight: [layer, head + 1],
    ArrowUp: [layer - 1, head],
    ArrowDown: [layer + 1, head],
    Home: [layer, 0],
    End: [layer, nHeads - 1],
  };
  if (event.key === "Enter" || event.key === " ") choose(grid, cell);
  else if (moves[event.key]) {
    const [toLayer, toHead] = moves[event.key];
    if (toLayer < 0 || toHead < 0 || toLayer >= nLayers || toHead >= nHeads) return;
    cell.tabIndex = -1;
    const next = grid.cells[toLayer * nHeads + toHead];
    next.tabIndex = 0;
    next.focus();
  } else return;
  event.preventDefault();
  event.stopPropagation();
}

// The line below the grid: of the head pointed at, else of the selected one.
function describe(grid, cell) {
  const [, nHeads] = grid.thumbnails.shape;
  const shown = cell ?? grid.cells[grid.selected[0] * nHeads + grid.selected[1]];
  if (!shown) return;
  const { query, key, writes, weight } = strongestOf(grid, shown);
  const [from, to] = [element("span", "chip"), element("span", "chip")];
  setPiece(from, query);
  setPiece(to, key);
  grid.readout.replaceChildren(
    element("strong", "", `L${shown.layer} H${shown.head}`),
    element("span", "dim", ` strongest ${weight}: ${writes ? "writing " : ""}`),
    from,
    element("span", "dim", " → "),
    to,
  );
}

function spoken(grid, cell) {
  const { query, key, writes, weight } = strongestOf(grid, cell);
  const verb = writes ? "writing " : "";
  return `L${cell.layer} H${cell.head}: strongest ${verb}${query[0]} → ${key[0]} ${weight}`;
}

function strongestOf(grid, { layer, head }) {
  const { header, strongest, weights, thumbnails } = grid;
  const i = layer * thumbnails.shape[1] + head;
  const row = strongest[2 * i];
  return {
    // A row of cross-attention is known by what it wrote, as in the heatmap beside the grid.
    query: (header.produced ?? header.queries)[row],
    key: header.keys[strongest[2 * i + 1]],
    writes: header.produced !== null,
    weight: weights[i].toFixed(2),
  };
}

function explain(grid) {
  const { block, masked } = grid.header;
  const parts = ["0 ", element("span", "ramp"), " 1 · shade: square root of the weight"];
  if (masked) parts.push(" · ", element("span", "masked"), " masked");
  if (Math.max(...block) > 1) {
    parts.push(` · a pixel shows the largest of ${block[0]} × ${block[1]} cells or more`);
  }
  grid.legend.replaceChildren(...parts);
}

// A token pointed at elsewhere: its row or column is marked in every picture.
function markToken(grid, { side, position }) {
  if (!grid.header) return;
  const { rows, columns, queries, keys } = grid.header;
  mark(grid.board, "row", rows, queries.length, side, position);
  mark(grid.board, "column", columns, keys.length, side, position);
}

function mark(board, name, offsets, n, side, position) {
  const place = position === null || !(side in offsets) ? -1 : position + offsets[side];
  const shown = place >= 0 && place < n;
  board.classList.toggle(`mark-${name}`, shown);
  if (!shown) return;
  board.style.setProperty(`--${name}`, `${(100 * place) / n}%`);
  board.style.setProperty(`--${name}-size`, `max(2px, ${100 / n}%)`);
}

function same(a, b) {
  return a[0] === b[0] && a[1] === b[1];
}
