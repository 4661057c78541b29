// One kind of attention as it is read, the weights as they are: AttentionMap of
// transformer/analysis/reading.py, with what its pictures share in viz/components/kit/picture.py.

import { amount, filled } from "./numbers.js";
import { single } from "./words.js";

const SIDES = {
  encoder_self: ["source", "source"],
  decoder_self: ["read", "read"],
  cross: ["read", "source"],
};

// answer: of viz/live/engine/answer.js. reading: { words, special } as a Reading has them: whether
// pieces are merged to words, and special tokens "shown" or "hidden".
export function openMap(site, answer, kind, reading) {
  const { words, kinds, layers } = site;
  const { is_produced: isProduced } = kinds[kind];
  const starts = startsOf(kinds[kind].starts, answer);
  const own = answer.attentions?.[kind]; // of a file: other code has its own rows and columns
  const [queries, keys] = own ? [own.queries, own.keys] : SIDES[kind].map((side) => answer[side]);
  const names = isProduced ? (own?.produced ?? answer.target) : queries;
  const [rowGroups, columnGroups] = [names, keys].map((tokens) => groupsOf(words, tokens, reading));
  const map = { kind, answer, reading, starts, isProduced, rowGroups, columnGroups, keys };
  const n = [queries.length, keys.length];
  return Object.assign(map, {
    n, // of queries and keys
    nHeads: answer.weights(kind, 0).length / (n[0] * n[1]),
    numbers: layers[kind], // of the layers, as the model counts them
    rows: words.named(names, rowGroups, reading.words),
    columns: words.named(keys, columnGroups, reading.words),
    isWhole: rowGroups.length === n[0] && columnGroups.length === n[1], // a cell is a weight
    notes: notesOf(site.notes, reading, [rowGroups, n[0]], [columnGroups, n[1]]),
    masks: new Map(), // as `allowedOf` keeps them
  });
}

// Where each side begins among rows and columns: of one text for both, the target behind the prompt.
function startsOf({ rows, columns }, { source }) {
  const placed = (sides) =>
    "source" in sides && "target" in sides ? { source: 0, target: source.length } : sides;
  return { rows: placed(rows), columns: placed(columns) };
}

function groupsOf(words, tokens, reading) {
  const groups = reading.words ? words.groups(tokens) : single(tokens);
  if (reading.special === "shown") return groups;
  return groups.filter(([first]) => !tokens[first].special);
}

// What is said beside every picture: of merging, and of what is left out.
function notesOf({ merged, hidden }, { special }, ...sides) {
  const isMerged = sides.some(([groups]) => groups.some(({ length }) => length > 1));
  const [hidesRows, hidesKeys] = sides.map(([groups, n]) => groups.flat().length < n);
  const ofHidden = hidden[hidesKeys ? "keys" : hidesRows ? "rows" : "none"];
  return [...(isMerged ? merged : []), ...(special === "hidden" ? ofHidden : [])];
}

// The share of each head's weight, in the rows that are shown, that is on special tokens which are
// left out of its columns; null where none is.
export function hiddenShares(map, layer) {
  const { keys, columnGroups, rowGroups, nHeads, n } = map;
  const shown = new Set(columnGroups.flat());
  const leftOut = keys.map((_, i) => i).filter((i) => keys[i].special && !shown.has(i));
  if (!leftOut.length || !rowGroups.length) return null;
  return Array.from({ length: nHeads }, (_, head) => {
    const of = mergeColumns(weightsOf(map, layer, head), n[1], [leftOut]); // [Q, 1]
    const ofRow = (group) => group.reduce((sum, query) => sum + of[query], 0) / group.length;
    return rowGroups.reduce((sum, group) => sum + ofRow(group), 0) / rowGroups.length;
  });
}

// The weights of one head [Q, K].
export function weightsOf({ kind, answer, n }, layer, head) {
  const area = n[0] * n[1];
  return answer.weights(kind, layer).subarray(head * area, (head + 1) * area);
}

// [R, C]: keys summed, then queries averaged, in the precision that Python has.
export function valuesOf(map, layer, head) {
  const { rowGroups, columnGroups, n, isWhole } = map;
  const weights = weightsOf(map, layer, head);
  if (isWhole) return weights;
  const width = columnGroups.length;
  const columns = mergeColumns(weights, n[1], columnGroups);
  const values = new Float32Array(rowGroups.length * width);
  rowGroups.forEach((group, row) => {
    for (let column = 0; column < width; column++) {
      const at = row * width + column;
      for (const query of group) values[at] += columns[query * width + column];
      values[at] /= group.length;
    }
  });
  return values;
}

// [T, K] -> [T, groups]: the sum over the keys of each.
export function mergeColumns(weights, nKeys, groups) {
  const nQueries = weights.length / nKeys;
  const merged = new Float32Array(nQueries * groups.length);
  for (let query = 0; query < nQueries; query++) {
    groups.forEach((group, column) => {
      const at = query * groups.length + column;
      for (const key of group) merged[at] += weights[query * nKeys + key];
    });
  }
  return merged;
}

// The mean of heads [H, Q, K] -> [Q, K].
export function meanOfHeads(weights, area) {
  const mean = new Float32Array(area);
  for (let i = 0; i < weights.length; i++) mean[i % area] += weights[i];
  const nHeads = weights.length / area;
  return mean.map((sum) => sum / nHeads);
}

// Whether a mask leaves a cell of the map open [R, C], of one head; null: all are. A cell is masked
// only where every cell that it stands for is. Heads and layers with one mask share the answer.
export function allowedOf(map, layer, head) {
  const { kind, answer, n, rowGroups, columnGroups, masks } = map;
  const all = answer.allowed(kind, layer);
  if (!all) return null;
  const area = n[0] * n[1];
  const place = all.length > area ? head : 0;
  const ofMask = masks.get(all) ?? masks.set(all, []).get(all);
  if (ofMask[place]) return ofMask[place];
  const isOpen = all.subarray(place * area, (place + 1) * area);
  const allowed = new Uint8Array(rowGroups.length * columnGroups.length);
  rowGroups.forEach((row, r) => {
    columnGroups.forEach((column, c) => {
      const some = row.some((query) => column.some((key) => isOpen[query * n[1] + key]));
      allowed[r * columnGroups.length + c] = Number(some);
    });
  });
  return (ofMask[place] = allowed);
}

// The values of a head [R, C], NaN where masked.
export function maskedValues(map, layer, head) {
  const [values, allowed] = [valuesOf(map, layer, head), allowedOf(map, layer, head)];
  return allowed ? values.map((value, i) => (allowed[i] ? value : Number.NaN)) : values;
}

// { row, column, value } of the largest value; null where all are masked. Rows that may look at one
// key only are left out, as their 1.0 is no finding; where every row is such a row, all count.
export function strongestCell({ rows, columns }, values, allowed) {
  const n = columns.length;
  if (!values.length || (allowed && !allowed.includes(1))) return null;
  const hasChoice = allowed && rows.map((_, row) => count(allowed, row * n, n) > 1);
  const counts = hasChoice?.includes(true) ? hasChoice : null;
  let [best, most] = [0, -1];
  for (let row = 0; row < rows.length; row++) {
    if (counts && !counts[row]) continue;
    for (let i = row * n; i < (row + 1) * n; i++) {
      if (values[i] > most && (!allowed || allowed[i])) [best, most] = [i, values[i]];
    }
  }
  return { row: Math.floor(best / n), column: best % n, value: values[best] };
}

function count(allowed, from, n) {
  let sum = 0;
  for (let i = from; i < from + n; i++) sum += allowed[i];
  return sum;
}

// What the header of a picture says: what no text changes, and of the map's rows and columns.
export function headerOf({ words, kinds }, map, name) {
  const { kind, reading, rows, columns, notes } = map;
  const { headers, changes } = kinds[kind];
  const own = changes[`${reading.words ? "words" : "pieces"}, ${reading.special}`][name];
  const tokens = { rows: words.pieces(rows), columns: words.pieces(columns) };
  return { ...headers[name], ...own, ...tokens, sides: sidesOf(map), notes };
}

// The sentence of one cell, with the words of the text in quotation marks. row, column: tokens;
// value: not a number where it is masked.
export function cellSentence({ words, numbers, kinds }, map, { row, column, layer, head, value }) {
  const { seen, masked } = kinds[map.kind].headers.head_map.sentence;
  return filled(Number.isNaN(value) ? masked : seen, {
    row: `“${words.bareLabel(row)}”`,
    column: `“${words.bareLabel(column)}”`,
    layer: map.numbers[layer],
    head,
    value: amount(numbers, value),
  });
}

// "rows" and "columns" -> side -> for each position of that side its row or column; -1: none.
export function sidesOf({ starts, isProduced, rowGroups, columnGroups }) {
  const rows = placesOf(starts.rows, rowGroups);
  return { rows, columns: placesOf(starts.columns, columnGroups), writes: isProduced };
}

function placesOf(starts, groups) {
  const all = numbersOf(groups);
  const sides = Object.entries(starts);
  const placesFrom = ([side, start], i) => {
    const n = Math.max(0, (sides[i + 1]?.[1] ?? all.length) - start);
    return [side, Array.from({ length: n }, (_, at) => all[start + at] ?? -1)];
  };
  return Object.fromEntries(sides.map(placesFrom));
}

// The number of the group of each position; undefined: it is in none.
export function numbersOf(groups) {
  const numbers = [];
  groups.forEach((group, number) => {
    for (const i of group) numbers[i] = number;
  });
  return numbers;
}
