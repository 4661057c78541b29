// All steps at once: attention, a row a step, named by the token that it wrote, and its entropy.

import { createImage, emptied } from "../kit/canvas.js";
import { element, setPiece } from "../kit/page.js";
import { isOnStage, roomBelow, typeSize } from "../kit/room.js";
import { FULL, pixelTable } from "../kit/shade.js";

const ROW = 18; // px, while all rows fit
const TALLEST = 640; // px of the whole
const LEAST = 60;
const BESIDE = 140; // of names and bars beside the map, as the strip's padding leaves it

// show(step) is asked for when a row is pressed or dragged over.
export function createOverview(show) {
  const node = element("div", "overview");
  node.setAttribute("aria-hidden", "true"); // the slider and the weights say the same
  const field = element("div", "field");
  const [map, row, column] = [element("canvas", "map"), element("div", "row"), element("div", "column")];
  field.append(map, row, column);
  const [names, bars] = [element("div", "names"), element("div", "entropies")];
  node.append(field, names, bars);
  const overview = { node, field, map, names, bars, row, column };
  const pressed = (event) => {
    const box = node.getBoundingClientRect();
    show(Math.floor(((event.clientY - box.top) / box.height) * overview.nRows));
  };
  node.onpointerdown = pressed;
  node.onpointermove = (event) => event.buttons & 1 && pressed(event);
  return overview;
}

// weights: [steps, keys]; written, entropies: of each step.
export function fillOverview(overview, { weights, written, entropies }) {
  const [nRows, nColumns] = weights.shape;
  Object.assign(overview, { nRows, nColumns, weights });
  overview.written = written;
  overview.every = 0;
  const most = Math.max(1, ...entropies);
  overview.bars.replaceChildren(
    ...entropies.map((entropy, step) => {
      const bar = element("div", "entropy");
      bar.title = `Step ${step + 1}: ${entropy.toFixed(2)} bits`;
      bar.style.setProperty("--size", `${(100 * entropy) / most}%`);
      return bar;
    }),
  );
}

// A name needs the height of its type; those of rows that are less high are left out in between.
function fit(overview) {
  const { node, nRows, written } = overview;
  const [row, most] = isOnStage() ? [1.2 * typeSize(), roomBelow(node)] : [ROW, TALLEST];
  const height = Math.max(LEAST, Math.min(row, Math.min(most, TALLEST) / nRows) * nRows);
  node.style.height = `${height}px`;
  const every = Math.ceil((typeSize() * nRows) / height);
  if (every === overview.every) return;
  overview.every = every;
  overview.names.replaceChildren(...written.map((piece, step) => name(piece, step, step % every)));
}

function name(piece, step, isLeftOut) {
  const node = element("div", "name");
  Object.assign(node.dataset, { side: "target", position: step });
  setPiece(node, isLeftOut ? ["", 0] : piece);
  return node;
}

// strip: the elements of the keys. In one line, the columns of the map stand below them.
export function drawOverview(overview, strip, palette) {
  const { weights, nRows, nColumns } = overview;
  fit(overview);
  const inLine = columnEdges(strip.map((node) => [node.offsetLeft, node.offsetTop, node.offsetWidth]));
  const hasRoom = inLine !== null && inLine.at(-1) + BESIDE <= overview.node.clientWidth;
  const edges = hasRoom ? inLine : null;
  overview.node.classList.toggle("aligned", edges !== null);
  overview.edges = edges ?? Array.from({ length: nColumns + 1 }, (_, i) => i);
  const width = overview.edges[nColumns];
  overview.field.style.width = edges ? `${width}px` : "";
  // One canvas pixel a row, and a column or a pixel of one; the style scales it without smoothing.
  const image = createImage(width, nRows);
  const table = pixelTable(palette);
  weights.forEach((weight, i) => {
    const [from, column] = [width * Math.floor(i / nColumns), i % nColumns];
    const [start, end] = [overview.edges[column], overview.edges[column + 1]];
    image.pixels.fill(table[Math.round(FULL * Math.sqrt(weight))], from + start, from + end);
  });
  emptied(overview.map, width, nRows).putImageData(image.data, 0, 0);
}

// Where columns begin and end below boxes [left, top, width], in whole pixels from the first one on:
// in the middle between two. null where the boxes do not stand in one line from left to right.
export function columnEdges(boxes) {
  const [[first, line]] = boxes;
  const [left, , size] = boxes.at(-1);
  if (!size || left < first || boxes.some(([, top]) => top !== line)) return null;
  const inner = boxes.slice(1).map(([start], i) => (boxes[i][0] + boxes[i][2] + start) / 2 - first);
  return [0, ...inner.map(Math.round), left + size - first];
}

export function markOverview(overview, step) {
  overview.row.style.top = `${(100 * step) / overview.nRows}%`;
  overview.row.style.height = `${100 / overview.nRows}%`;
  for (const { children } of [overview.names, overview.bars]) {
    [...children].forEach((node, i) => node.classList.toggle("now", i === step));
  }
}

export function markOverviewColumn({ column, edges }, position) {
  column.style.display = position === null ? "none" : "block";
  if (position === null || !edges) return;
  const percent = (edge) => `${(100 * edge) / edges.at(-1)}%`;
  column.style.left = percent(edges[position]);
  column.style.width = percent(edges[position + 1] - edges[position]);
}
