// The small pictures of a head view's cards: the row that the sentence is about, its head, its layer.

import { bars, hiddenIn, thumbnails } from "../kit/illustrations.js";
import { amount } from "../kit/sentence.js";
import { FULL, MASKED, pixelTable } from "../kit/shade.js";
import { eachOfRow } from "./lines.js";

const SMALL = 40; // px of a thumbnail beside many

export function illustrate(view, what) {
  const { map, sentence: { cell } } = view;
  if (!cell?.at) return null; // another picture speaks, or none
  if (what === "row") return row(map, cell);
  if (map.columns || map.header.lens.scale === "signed") return null; // not all values are here
  if (what === "head") return heads(view, [cell.head], cell);
  if (what === "layer" && map.nHeads > 1) return heads(view, [...Array(map.nHeads).keys()], cell, SMALL);
  return null;
}

function row(map, { at: [place, chosen], row: piece, layer, head }) {
  const { columns, per_head: perHead } = map.header;
  const items = [];
  const shownHead = perHead ? head : 0;
  eachOfRow(map, shownHead, place, (column, value) => {
    items.push({ piece: columns[column], value, isMarked: column === chosen });
  });
  const where = perHead ? `head ${head} of layer ${layer}` : `layer ${layer}`;
  return bars(piece, `in ${where}`, items, map.columns ? null : together(map.header.lens), map.columns ? [] : hiddenIn(map.header, items));
}

function together({ scale }) {
  if (scale !== "share") return null;
  return (n, others) => `${n} others: ${amount(others.reduce((sum, { value }) => sum + value, 0))}`;
}

function heads({ map, palette }, shown, { head: chosen, layer }, side) {
  const { nRows: rows, nColumns: columns, values } = map;
  const { bound, per_head: perHead } = map.header;
  const table = pixelTable(palette);
  const maps = shown.map((head) => {
    const from = (perHead ? head : 0) * rows * columns;
    const own = values.subarray(from, from + rows * columns);
    const cells = Uint8Array.from(own, (value) => shade(value / bound));
    const isMarked = shown.length > 1 && head === chosen;
    const name = perHead ? `L${layer} H${head}` : `L${layer}`;
    return { title: shown.length > 1 ? `H${head}` : name, cells, rows, columns, table, isMarked, side };
  });
  return thumbnails(shown.length > 1 ? `The heads of layer ${layer}` : "", maps);
}

function shade(share) {
  return Number.isNaN(share) ? MASKED : Math.round(FULL * Math.sqrt(Math.min(1, share)));
}
