// All steps at once: the cross-attention, a row a step, and each step's entropy beside it.

import { createImage, emptied } from "../kit/canvas.js";
import { element } from "../kit/page.js";
import { FULL, pixelTable } from "../kit/shade.js";

const ENTROPY_WIDTH = 64;

// show(step) is asked for when a row is pressed or dragged over.
export function createOverview(show) {
  const node = element("div", "overview");
  node.setAttribute("aria-hidden", "true"); // the slider and the weights say the same
  const map = element("canvas", "map");
  const bars = element("div", "entropies");
  const row = element("div", "row");
  const column = element("div", "column");
  node.append(map, bars, row, column);
  const overview = { node, map, bars, row, column };
  const pressed = (event) => {
    const box = node.getBoundingClientRect();
    show(Math.floor(((event.clientY - box.top) / box.height) * overview.nRows));
  };
  node.onpointerdown = pressed;
  node.onpointermove = (event) => event.buttons & 1 && pressed(event);
  return overview;
}

export function drawOverview(overview, weights, entropies, palette) {
  const [nRows, nColumns] = weights.shape;
  Object.assign(overview, { nRows, nColumns });
  const height = Math.max(60, Math.min(15, 260 / nRows) * nRows);
  overview.node.style.height = `${height}px`;
  overview.node.style.setProperty("--entropy-width", `${ENTROPY_WIDTH}px`);
  // One canvas pixel a cell; the style scales it without smoothing.
  const image = createImage(nColumns, nRows);
  const table = pixelTable(palette);
  weights.forEach((weight, i) => (image.pixels[i] = table[Math.round(FULL * Math.sqrt(weight))]));
  emptied(overview.map, nColumns, nRows).putImageData(image.data, 0, 0);
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

export function markOverview(overview, step) {
  overview.row.style.top = `${(100 * step) / overview.nRows}%`;
  overview.row.style.height = `${100 / overview.nRows}%`;
  [...overview.bars.children].forEach((bar, i) => bar.classList.toggle("now", i === step));
}

export function markOverviewColumn(overview, position) {
  overview.column.style.display = position === null ? "none" : "block";
  overview.column.style.setProperty("--at", position / overview.nColumns);
  overview.column.style.setProperty("--size", 1 / overview.nColumns);
}
