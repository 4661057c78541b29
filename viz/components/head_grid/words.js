// What is said of a head and of the scale, in text.

import { decimals, element, setPiece, short } from "../kit/page.js";
import { indexOf } from "./order.js";

// The lines below the grid: of the head pointed at, else of the selected one.
export function describe(grid, cell) {
  const shown = cell ?? grid.cells[indexOf(grid, grid.selected)];
  if (!shown) return;
  const first = element("div", "", "");
  first.append(element("strong", "", nameOf(grid, shown)), ...strongestParts(grid, shown));
  const second = element("div", "telling dim");
  tellingOf(grid, shown).forEach(([title, text], i) => {
    const part = element("span", "", `${title} `);
    part.append(element("strong", "", text));
    second.append(i ? " · " : "", part); // a narrow screen breaks the line between them
  });
  if (!grid.header.metrics.length) second.append("This lens draws one map per layer, so there are no per-head metrics");
  grid.readout.replaceChildren(first, second);
}

function strongestParts(grid, cell) {
  const { row, column, value } = strongestOf(grid, cell);
  if (!row) return [element("span", "dim", " nothing to show")];
  const [from, to] = [element("span", "chip"), element("span", "chip")];
  setPiece(from, row);
  setPiece(to, column);
  return [
    element("span", "dim", ` strongest ${value}: ${grid.header.produced ? "writing " : ""}`),
    from,
    element("span", "dim", " → "),
    to,
  ];
}

// The same in one sentence, for who cannot see it.
export function spoken(grid, cell) {
  const { row, column, value } = strongestOf(grid, cell);
  const verb = grid.header.produced ? "writing " : "";
  const strongest = row ? `strongest ${verb}${row[0]} → ${column[0]} ${value}` : "nothing to show";
  const telling = tellingOf(grid, cell).map(([title, text]) => `${title} ${text}`);
  const { by } = grid.shown;
  const rank = by ? [`rank ${grid.ranks[cell.index] + 1} by ${metricOf(grid, by).title}`] : [];
  return `${nameOf(grid, cell)}: ${[strongest, ...telling, ...rank].join(", ")}`;
}

export function nameOf(grid, { layer, head }) {
  return grid.header.lens.per_head ? `L${layer} H${head}` : `L${layer}, all heads`;
}

function strongestOf({ header, strongest, values }, { index }) {
  return {
    row: header.rows[strongest[2 * index]],
    column: header.columns[strongest[2 * index + 1]],
    value: decimals(values[index]),
  };
}

// [title, text] of the metrics in which the head stands out, the most telling first.
function tellingOf({ header, telling }, { index }) {
  const n = telling.shape[2];
  return Array.from(telling.subarray(n * index, n * (index + 1)), (m) => {
    const { title, texts } = header.metrics[m];
    return [title, texts[index]];
  });
}

export function metricOf(grid, name) {
  return grid.header.metrics.find((metric) => metric.name === name);
}

// What the shades mean, how heads are sorted, and which are left out.
export function explain(grid) {
  const { shown, header } = grid;
  const scale = shown.show === "maps" ? mapScale(grid) : metricScale(grid);
  const parts = [...scale, ...header.notes.map((note) => ` · ${note}`)];
  grid.legend.replaceChildren(...sorted(grid), ...parts);
}

function mapScale({ header, scale }) {
  const { lens, block, masked } = header;
  const [low, high] = [lens.scale === "signed" ? -lens.bound : 0, lens.bound].map(short);
  const law = lens.scale === "signed" ? "" : " · shade: square root";
  const parts = [`${lens.title} ${low} `, ramp(scale), ` ${high}${law}`];
  if (masked) parts.push(" · ", element("span", "masked"), " masked");
  if (Math.max(...block) > 1) {
    const which = lens.scale === "signed" ? "farthest from 0" : "largest";
    parts.push(` · a pixel shows the ${which} of ${block[0]} × ${block[1]} cells or more`);
  }
  return parts;
}

function metricScale(grid) {
  const { title, texts, explain: what } = metricOf(grid, grid.shown.show);
  const most = texts[grid.ranking(grid.shown.show)[0]];
  return [`${title} 0 `, ramp(grid.palette.scale), ` ${most} · ${what}`];
}

export function sorted(grid) {
  const { by, sort, top } = grid.shown;
  if (by === null || (sort === "layer" && !top)) return [];
  const title = metricOf(grid, by).title;
  const n = grid.cells.length;
  if (top && top < n) return [`Top ${top} of ${n} heads by ${title}. `];
  return [`Sorted by ${title}, largest first. `];
}

function ramp(scale) {
  const node = element("span", "ramp");
  node.style.background = `linear-gradient(to right, ${scale.join(", ")})`;
  return node;
}
