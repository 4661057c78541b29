// What is said of the picture: the line below it, the legend, and what is spoken.

import { decimals, element, setPiece } from "../kit/page.js";
import { badge, shown } from "./heads.js";
import { MAX_LINES, MAX_POINTED, eachOfRow, openToken } from "./lines.js";
import { BOX, linesShown } from "./picture.js";
import { bare, label, strongestAt } from "./tokens.js";

const N_SPOKEN = 4;
export const N_READ = 3; // pins that are read out below the picture

// The largest of the shown heads' lines.
export function strongestOf({ map }, heads) {
  map.strongest ??= new Map();
  for (const head of heads) {
    if (!map.strongest.has(head)) map.strongest.set(head, strongestLine(map, head));
  }
  const found = heads.map((head) => map.strongest.get(head)).filter(Boolean);
  return found.reduce((a, b) => (Math.abs(b.value) > Math.abs(a?.value ?? 0) ? b : a), null);
}

// Rows that may attend to one key only are left out: their 1.0 is no finding.
function strongestLine(map, head) {
  let best = null;
  for (let row = 0; row < map.nRows; row++) {
    let [column, value, n] = [-1, 0, 0];
    eachOfRow(map, head, row, (other, here) => {
      n += 1;
      if (Math.abs(here) > Math.abs(value)) [column, value] = [other, here];
    });
    const isFree = n > 1 || map.nColumns === 1;
    if (isFree && Math.abs(value) > Math.abs(best?.value ?? 0)) best = { head, row, column, value };
  }
  return best;
}

// The lines below the picture: of the token pointed at or the last pins, else the strongest of all.
export function read(view, ids, heads) {
  if (ids.length) view.readout.replaceChildren(...ids.map((id) => readToken(view, id, heads)));
  else readStrongest(view);
}

function readToken(view, id, heads) {
  const line = element("div");
  line.append(...named(view, id), element("span", "dim", openToken(id).isRow ? " → " : " ← "));
  const found = heads.length ? strongestAt(view.map, heads, id) : [];
  const groups = [...Map.groupBy(found, ({ id: other }) => other)];
  line.append(...groups.map(([other, labels]) => item(view, other, labels)));
  return line;
}

function readStrongest(view) {
  const { header } = view.map;
  const nodes = [];
  if (view.strongest) {
    const { head, row, column, value } = view.strongest;
    nodes.push(element("strong", "", headName(view, head)), element("span", "dim", " strongest "));
    nodes.push(decimals(value), ": ", ...named(view, `q${row}`));
    nodes.push(element("span", "dim", " → "), chipOf(header.columns[column]));
  } else nodes.push(element("span", "dim", "no head is shown: choose one above"));
  view.readout.replaceChildren(...nodes);
}

// A partner and its exact weights, one per head.
function item(view, id, labels) {
  const box = element("span", "item");
  const marked = labels.map(({ head, value }) => label(head, value, (one) => badge(view, one)));
  box.append(chipOf(pieceOf(view, id)), ...marked);
  return box;
}

function named(view, id) {
  const writes = openToken(id).isRow && view.map.header.produced;
  return [element("span", "dim", writes ? "writing " : ""), chipOf(pieceOf(view, id))];
}

function chipOf(piece) {
  const node = element("span", "chip");
  setPiece(node, piece);
  return node;
}

function pieceOf({ map }, id) {
  const { isRow, place } = openToken(id);
  return map.header[isRow ? "rows" : "columns"][place];
}

function headName({ map }, head) {
  const { layer, per_head: perHead } = map.header;
  return perHead ? `L${layer} H${head}` : `L${layer}`;
}

function amount({ map }, value) {
  if (map.header.lens.scale !== "share") return decimals(value);
  return value < 0.01 ? "less than 1 %" : `${Math.round(100 * value)} %`;
}

// "writing Tier: 71 % on animal (L2 H4), 40 % on The (L2 H5)"
export function spokenOf(view, id) {
  const { isRow } = openToken(id);
  const seen = new Set();
  const firsts = strongestAt(view.map, shown(view), id).filter(
    ({ head }) => !seen.has(head) && seen.add(head),
  );
  const writes = view.map.header.produced ? "writing " : "";
  const parts = firsts.slice(0, N_SPOKEN).map(({ head, id: other, value }) => {
    const name = bare(pieceOf(view, other));
    const where = isRow ? `on ${name}` : `of ${writes}${name}`;
    return `${amount(view, value)} ${where} (${headName(view, head)})`;
  });
  const more = firsts.length - parts.length;
  if (more > 0) parts.push(`and ${more} more heads`);
  const subject = `${isRow ? writes : ""}${bare(pieceOf(view, id))}`;
  return `${subject}: ${parts.join(", ") || "no line"}`;
}

export function sentenceOf(view, heads) {
  const { header, nRows, nColumns } = view.map;
  const numbers = heads.map((head) => `H${head}`).join(", ");
  const which = header.per_head ? `L${header.layer} ${numbers || "no head"}` : `L${header.layer}`;
  const start = `${header.kind} attention, ${which}: ${nRows} queries, ${nColumns} keys.`;
  if (!view.strongest) return start;
  const { head, row, column, value } = view.strongest;
  const writes = header.produced ? "writing " : "";
  return (
    `${start} Strongest: ${writes}${bare(header.rows[row])}, ${amount(view, value)} ` +
    `on ${bare(header.columns[column])} (${headName(view, head)}).`
  );
}

export function explain(view, heads) {
  const { header, rest } = view.map;
  const parts = [`opacity: square root of the ${header.lens.title.toLowerCase()}; width: the ${header.lens.title.toLowerCase()}`];
  if (header.lens.scale === "signed") parts.push(" · dotted: below 0");
  if (heads.length) parts.push(` · ${drawnOf(view, heads)}`);
  if (rest) parts.push(` · showing the ${view.map.width} strongest keys per token`);
  const pointed = Math.floor(MAX_POINTED / Math.max(1, heads.length));
  if (pointed < view.map.width) parts.push(` · hovering shows at most ${pointed} lines per head`);
  if (Math.max(view.map.nRows, view.map.nColumns) * view.pitch > BOX) {
    parts.push(" · lines are hidden when both ends are scrolled out of view");
  }
  for (const note of header.notes) parts.push(` · ${note}`);
  const keys = view.map.header.per_head ? "digits toggle heads, Shift shows only one · " : "";
  view.legend.replaceChildren(
    element("div", "", parts.join("")),
    element("div", "", `click pins a token, Escape releases it · ${keys}arrow keys move`),
  );
}

// "the 5 strongest of 128 keys per token: 87 % of the attention"
function drawnOf(view, heads) {
  const { nColumns, width, header } = view.map;
  const perRow = Number(view.controls.lines.value);
  const all = heads.map((head) => linesShown(view, head, perRow));
  const [lines, total] = ["shown", "total"].map((name) => all.reduce((sum, one) => sum + one[name], 0));
  const isAll = perRow >= width && width === nColumns;
  const which = isAll ? "all lines" : `the ${perRow} strongest of ${nColumns} keys per token`;
  const capped = all.some((one) => one.capped) ? `, at most ${MAX_LINES} per head` : "";
  if (isAll && !capped) return which;
  const share = total ? (100 * lines) / total : 100;
  const percent = share > 99 && share < 100 ? share.toFixed(1) : Math.round(share);
  const whole = header.lens.scale === "share" ? "attention" : "sum of sizes";
  return `${which}${capped}: ${percent} % of the ${whole}`;
}
