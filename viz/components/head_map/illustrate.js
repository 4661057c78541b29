// The small pictures of a head map's cards: the row that the sentence is about, and the head.

import { bars, hiddenIn, thumbnails } from "../kit/illustrations.js";
import { amount } from "../kit/sentence.js";
import { FULL, MASKED, pixelTable } from "../kit/shade.js";
import { isPooled, isSigned, valueAt, wholeWindow } from "./values.js";

export function illustrate(view, what) {
  const { map, palette, sentence: { cell } } = view;
  if (!cell?.at || isPooled(map)) return null; // another picture speaks; or values stand for many cells
  if (what === "row") return row(map, cell);
  if (what === "head" && !isSigned(map)) return head(map, palette);
  return null;
}

function row(map, { at: [place, chosen], row: piece, layer, head: number }) {
  const { header } = map;
  const items = header.columns
    .map((each, column) => {
      const { value } = valueAt(map, wholeWindow(map), place, column);
      return { piece: each, value, isMarked: column === chosen };
    })
    .filter(({ value }) => !Number.isNaN(value));
  const where = header.lens.per_head ? `head ${number} of layer ${layer}` : `layer ${layer}`;
  const rest = (n, others) => `${n} others: ${amount(others.reduce((sum, { value }) => sum + value, 0))}`;
  return bars(piece, `in ${where}`, items, header.lens.scale === "share" ? rest : null, hiddenIn(header, items));
}

function head({ header, values, nRows: rows, nColumns: columns }, palette) {
  const [low, high] = header.bounds;
  const shade = (value) => Math.round(FULL * Math.sqrt(Math.min(1, (value - low) / (high - low))));
  const cells = Uint8Array.from(values, (value) => (Number.isNaN(value) ? MASKED : shade(value)));
  return thumbnails("", [{ title: header.name, cells, rows, columns, table: pixelTable(palette) }]);
}
