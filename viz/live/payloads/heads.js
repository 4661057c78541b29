// What head_grid, head_view and head_map are given, as their Python in viz/components packs it. The
// part of a header that no text changes is that Python's own, in viz/live/tables.py.

import { FULL, MASKED } from "../../components/kit/shade.js";
import {
  allowedOf,
  cellSentence,
  headerOf,
  hiddenShares,
  maskedValues,
  numbersOf,
  openMap,
  strongestCell,
  valuesOf,
  weightsOf,
} from "./maps.js";
import { metric, metricText } from "./metrics.js";
import { filled, fixed, grouped, percent } from "./numbers.js";
import { digest, pack } from "./pack.js";

// kinds: names of those that are shown, all where none are named.
export function headGrid(site, answer, { kinds = Object.keys(site.kinds), reading }) {
  const parts = kinds.map((kind) => gridOf(site, openMap(site, answer, kind, reading)));
  return pack({}, ...parts.map((part) => [part, part.length]));
}

function gridOf(site, map) {
  const header = headerOf(site, map, "head_grid");
  const { rows, columns, numbers: layers, nHeads, n } = map;
  const side = site.limits.thumbnail;
  const block = [rows.length, columns.length].map((size) => Math.max(1, Math.ceil(size / side)));
  const size = [rows.length, columns.length].map((each, i) => Math.ceil(each / block[i]));
  const [area, count] = [size[0] * size[1], layers.length * nHeads];
  const pixels = new Uint8Array(count * area);
  const [cells, peaks] = [new Int32Array(2 * count), new Float32Array(count)];
  const numbers = new Float32Array(header.metrics.length * count);
  for (let at = 0; at < count; at++) {
    const [layer, head] = [Math.floor(at / nHeads), at % nHeads];
    const [values, allowed] = [valuesOf(map, layer, head), allowedOf(map, layer, head)];
    pixels.set(thumbnail(values, allowed, columns.length, block, size), at * area);
    const strongest = strongestCell(map, values, allowed);
    if (strongest) cells.set([strongest.row, strongest.column], 2 * at);
    peaks[at] = strongest ? strongest.value : Number.NaN;
    const weights = weightsOf(map, layer, head);
    header.metrics.forEach(({ name }, i) => {
      numbers[i * count + at] = metric(name, weights, n);
    });
  }
  const metrics = header.metrics.map((each, i) => {
    const values = Array.from(numbers.subarray(i * count, (i + 1) * count));
    return { ...each, texts: values.map((value) => metricText(site.numbers, each, value)) };
  });
  const shape = [layers.length, nHeads];
  return pack(
    { ...header, block, masked: pixels.includes(MASKED), metrics },
    [pixels, ...shape, ...size],
    [cells, ...shape, 2],
    [peaks, ...shape],
    [numbers, metrics.length, ...shape],
  );
}

// A head as a small picture [R', C']: the largest value of each block, as its square root.
function thumbnail(values, allowed, width, block, size) {
  const most = new Float32Array(size[0] * size[1]).fill(-1);
  for (let i = 0; i < values.length; i++) {
    if (allowed && !allowed[i]) continue;
    const [row, column] = [Math.floor(i / width), i % width];
    const place = Math.floor(row / block[0]) * size[1] + Math.floor(column / block[1]);
    if (values[i] > most[place]) most[place] = values[i];
  }
  return Uint8Array.from(most, (value) => {
    const root = Math.fround(Math.sqrt(Math.min(1, value)));
    return value < 0 ? MASKED : Number(fixed(Math.fround(root * FULL), 0));
  });
}

export function headView(site, answer, { kind, layer, reading }) {
  const map = openShown(site, answer, kind, reading);
  const { rows, columns, nHeads, numbers, rowGroups, columnGroups } = map;
  const area = rows.length * columns.length;
  const isDense = 4 * nHeads * area <= site.limits.dense;
  const header = headerOf(site, map, "head_view");
  const hidden = hiddenTexts(site, map, layer);
  return pack(
    {
      ...header,
      ...(hidden ? { hidden, hides: true } : {}),
      layer: numbers[layer],
      text: digest(JSON.stringify([kind, header.rows, header.columns])),
      rows_of: rowGroups,
      columns_of: columnGroups,
      closed: closedIn(map, layer),
    },
    ...(isDense ? dense : ranked)(site, map, layer),
  );
}

function dense(_, map, layer) {
  const { rows, columns, nHeads } = map;
  const area = rows.length * columns.length;
  const all = new Float32Array(nHeads * area);
  for (let head = 0; head < nHeads; head++) all.set(maskedValues(map, layer, head), head * area);
  return [[all, nHeads, rows.length, columns.length]];
}

// Of each row the largest values with their columns, and the sum of all others.
function ranked({ limits }, map, layer) {
  const { rows, columns, nHeads } = map;
  const [few, many] = limits.keys;
  const fitting = Math.floor(limits.ranked / (limits.bytes_a_key * nHeads * rows.length));
  const n = Math.min(Math.max(few, fitting), many, columns.length);
  const shape = [nHeads, rows.length];
  const places = new Uint16Array(nHeads * rows.length * n);
  const largest = new Float32Array(places.length);
  const rest = new Float32Array(nHeads * rows.length);
  for (let at = 0; at < rest.length; at++) {
    const [head, row] = [Math.floor(at / rows.length), at % rows.length];
    const from = row * columns.length;
    const values = maskedValues(map, layer, head).subarray(from, from + columns.length);
    const size = (column) => (Number.isNaN(values[column]) ? -1 : values[column]);
    const order = Array.from(values.keys()).sort((a, b) => size(b) - size(a));
    places.set(order.slice(0, n), at * n);
    largest.set(order.slice(0, n).map((column) => values[column]), at * n);
    rest[at] = order.slice(n).reduce((sum, column) => sum + Math.max(0, size(column)), 0);
  }
  return [[places, ...shape, n], [largest, ...shape, n], [rest, ...shape]];
}

// Query and key of each masked cell that is part of a row and column with open ones.
function closedIn(map, layer) {
  const { kind, answer, n, nHeads, rowGroups, columnGroups } = map;
  if (!answer.allowed(kind, layer)) return [];
  const ofHeads = Array.from({ length: nHeads }, (_, head) => allowedOf(map, layer, head));
  const [row, column] = [rowGroups, columnGroups].map(numbersOf);
  const isOpen = anyHead(answer.allowed(kind, layer), n[0] * n[1]);
  const cells = [];
  for (let at = 0; at < n[0] * n[1]; at++) {
    const [query, key] = [Math.floor(at / n[1]), at % n[1]];
    const cell = row[query] * columnGroups.length + column[key]; // none of what is left out
    if (!isOpen[at] && ofHeads.some((allowed) => allowed[cell])) cells.push([query, key]);
  }
  return cells;
}

function anyHead(allowed, area) {
  const open = new Uint8Array(area);
  for (let i = 0; i < allowed.length; i++) open[i % area] |= allowed[i];
  return open;
}

export function headMap(site, answer, { kind, layer, head, reading }) {
  const map = openShown(site, answer, kind, reading);
  const header = headerOf(site, map, "head_map");
  const hidden = hiddenTexts(site, map, layer)?.slice(head, head + 1) ?? [];
  const { rows, columns, numbers } = map;
  const [values, allowed] = [maskedValues(map, layer, head), allowedOf(map, layer, head)];
  const strongest = strongestCell(map, values, allowed);
  const name = filled(site.sentences.name, { layer: numbers[layer], head });
  const whole = {
    ...header,
    id: `${kind} L${layer} H${head}`,
    layer: numbers[layer],
    head,
    name,
    block: [1, 1], // the worker of the page sends it whole
    region: null,
    says: describe(site, map, { layer, head, name, strongest, hidden }),
    notes: [...header.notes, ...hidden],
    tokens: digest(JSON.stringify([header.rows, header.columns])),
    masked: Boolean(allowed?.includes(0)),
    strongest,
  };
  const n = columns.length;
  const largest = Int32Array.from(rows, (_, row) => largestIn(values, row * n, n));
  return pack(whole, [values, rows.length, n], [largest, rows.length]);
}

// The column of a row's largest value; -1 where all are masked.
function largestIn(values, from, n) {
  let best = -1;
  for (let column = 0; column < n; column++) {
    const isFirst = best < 0 && !Number.isNaN(values[from + column]);
    if (isFirst || values[from + column] > values[from + best]) best = column;
  }
  return best;
}

// `describe_map` of viz/map_words.py.
function describe(site, map, { layer, head, name, strongest, hidden }) {
  const { sentences, kinds } = site;
  const of = {
    name,
    kind: kinds[map.kind].name,
    rows: counted(map.rows.length, sentences.query),
    columns: counted(map.columns.length, sentences.key),
  };
  if (!strongest) return filled(sentences.masked, of);
  const isPlain = !map.reading.words && map.reading.special === "shown";
  const favourite = isPlain ? favouriteOf(site, map, layer, head) : "";
  const { row, column, value } = strongest;
  const place = { row: map.rows[row], column: map.columns[column], layer, head, value };
  const cell = cellSentence(site, map, place);
  const more = hidden.map((text) => ` ${text[0].toUpperCase()}${text.slice(1)}.`).join("");
  return filled(sentences.map, { ...of, favourite, strongest: cell }) + more;
}

// A map with something to draw.
function openShown(site, answer, kind, reading) {
  const map = openMap(site, answer, kind, reading);
  if (map.rows.length && map.columns.length) return map;
  throw new Error(site.sentences.nothing_left);
}

// How much of each head's weight is on special tokens that are left out; null: of none.
function hiddenTexts({ sentences, numbers }, map, layer) {
  const shares = hiddenShares(map, layer);
  const textOf = (share) => filled(sentences.hidden, { share: percent(numbers, share) });
  return shares && shares.map(textOf);
}

function counted(n, [one, many]) {
  return `${grouped(n)} ${n === 1 ? one : many}`;
}

// The place that gets most of a head's weight, as ", with 71 % on ...".
function favouriteOf({ sentences, numbers, kinds }, map, layer, head) {
  const weights = weightsOf(map, layer, head);
  let best = null;
  for (const name of kinds[map.kind].favourites) {
    const share = Math.fround(metric(name, weights, map.n));
    if (!best || sizeOf(share) > sizeOf(best.share)) best = { name, share };
  }
  const share = metricText(numbers, { unit: "share" }, best.share);
  return filled(sentences.favourite, { share, name: best.name });
}

function sizeOf(share) {
  return Number.isNaN(share) ? -1 : share;
}
