// What cell_steps is given, as viz/components/cell_steps/cell_steps.py packs it: one cell of a
// head, stage by stage, as `inside` of transformer/analysis/cell.py computes it.

import { allowedOf, cellSentence, openMap, strongestCell, weightsOf } from "./maps.js";
import { filled, number, percent } from "./numbers.js";
import { pack } from "./pack.js";

const CLOSE = 1e-6; // as a share: a scale that is so near 1/√d is that

// call: of viz/live/engine/inside.js, of this kind and layer. cell: positions of query and key;
// null: the head's largest weight. asWords: whether pieces are named as beside pictures of words.
export function cellSteps(site, answer, call, { kind, layer, head, cell = null, asWords }) {
  const map = openMap(site, answer, kind, { words: false, special: "shown" });
  const [query, key] = cell ?? strongest(map, layer, head);
  const inside = insideOf(map, call, { layer, head, query, key });
  const { words, numbers, cell_steps: table } = site;
  const { scores, weights, allowed, shares } = inside;
  const named = (token) => (asWords ? words.worded(token) : token);
  const [row, column] = [named(map.rows[query]), named(map.columns[key])];
  const isMasked = !allowed[key];
  const open = [...allowed.keys()].filter((i) => allowed[i]);
  const shown = shownKeys(table, open, weights, key);
  const others = open.filter((i) => !shown.includes(i));
  const where = { row, column, layer, head, value: isMasked ? Number.NaN : weights[key] };
  const shift = shiftOf(table, open.map((i) => scores[i]));
  const rank = 1 + open.filter((i) => scores[i] > scores[key]).length;
  const header = {
    layer: map.numbers[layer],
    head,
    cell: [query, key],
    query_token: words.pieces([row])[0],
    sentence: site.kinds[kind].headers.head_map.sentence,
    labels: words.pieces(shown.map((i) => named(map.columns[i]))),
    rest: [others.length, sumOf(others.map((i) => weights[i]))],
    dot: inside.running.at(-1),
    scale: call.scale,
    scale_name: scaleName(table, call.scale, inside.q.length),
    bias: 0, // a model of ours adds none
    score: scores[key],
    is_masked: isMasked,
    n_allowed: open.length,
    shift,
    exp: isMasked ? 0 : Math.exp(scores[key] - shift),
    exp_sum: sumOf(open.map((i) => Math.exp(scores[i] - shift))),
    weight: weights[key],
    share: shares[key],
    percent: percent(numbers, shares[key], 0),
    share_sum: sumOf(shares),
    norms: inside.norms,
    says: says(site, inside, { sentence: cellSentence(site, map, where), call, key, rank, open }),
  };
  const { q, k, products, running, value, part, output } = inside;
  const vectors = [q, k, products, running, value, part, output, scores, weights, allowed];
  return pack(header, ...[...vectors, Int32Array.from(shown)].map((each) => [each, each.length]));
}

function strongest(map, layer, head) {
  const allowed = allowedOf(map, layer, head);
  const { row, column } = strongestCell(map, weightsOf(map, layer, head), allowed);
  return [row, column];
}

// All numbers of the stages of a cell, of heads of d dimensions.
function insideOf(map, call, { layer, head, query, key }) {
  const [nQueries, nKeys] = map.n;
  const d = call.q.length / (map.nHeads * nQueries);
  const vectorOf = (all, n, at) => all.slice((head * n + at) * d, (head * n + at + 1) * d);
  const q = vectorOf(call.q, nQueries, query);
  const keys = Array.from({ length: nKeys }, (_, i) => vectorOf(call.k, nKeys, i));
  const scores = Float32Array.from(keys, (k) => sumOf(k.map((x, i) => x * q[i])) * call.scale);
  const weights = weightsOf(map, layer, head).slice(query * nKeys, (query + 1) * nKeys);
  const open = allowedOf(map, layer, head)?.slice(query * nKeys, (query + 1) * nKeys);
  const products = q.map((x, i) => x * keys[key][i]);
  let sum = 0;
  const running = products.map((product) => (sum += product));
  const values = Array.from({ length: nKeys }, (_, i) => vectorOf(call.v, nKeys, i));
  const parts = values.map((v, i) => v.map((x) => x * weights[i]));
  const output = new Float32Array(d).map((_, i) => sumOf(parts.map((part) => part[i])));
  const squared = sumOf(output.map((x) => x * x));
  const along = (part) => sumOf(part.map((x, i) => x * output[i]));
  return {
    q,
    k: keys[key],
    products,
    running,
    scores,
    weights,
    output,
    allowed: open ?? new Uint8Array(nKeys).fill(1),
    value: values[key],
    part: parts[key],
    shares: Float32Array.from(parts, (part) => (squared ? along(part) / squared : 0)),
    norms: [parts[key], output].map((each) => normAfter(call.output, map.nHeads, head, each)),
  };
}

// The length of a vector [d] of a head after its rows of W_O, of [H, d, D].
function normAfter(matrix, nHeads, head, vector) {
  const d = vector.length;
  const width = matrix.length / (nHeads * d);
  const after = new Float64Array(width);
  vector.forEach((x, i) => {
    const from = (head * d + i) * width;
    for (let at = 0; at < width; at++) after[at] += x * matrix[from + at];
  });
  return Math.sqrt(sumOf(after.map((x) => x * x)));
}

// What every score loses before e^s, which the softmax does not notice; 0 where e^s can be read.
function shiftOf({ readable: [low, high] }, scores) {
  const largest = scores.reduce((most, score) => Math.max(most, score), -Infinity);
  return !scores.length || (largest >= low && largest <= high) ? 0 : largest;
}

// The keys that the softmax names, in their order: the strongest that are open, and this one.
function shownKeys({ most }, open, weights, key) {
  const isLong = open.length > most + 1;
  const named = isLong ? open.toSorted((a, b) => weights[b] - weights[a]).slice(0, most) : open;
  return [...new Set([...named, key])].sort((a, b) => a - b);
}

function scaleName({ says: { scale: template } }, scale, d) {
  const root = d ** -0.5;
  const isRoot = Math.abs(scale - root) <= CLOSE * Math.max(Math.abs(scale), root);
  return isRoot ? filled(template, { d_key: d }) : "";
}

function says({ numbers, cell_steps: { says: table } }, inside, of) {
  const { sentence, call, key, rank, open } = of;
  const { running, scores, shares, allowed } = inside;
  const dot = filled(table.dot, {
    dot: number(running.at(-1)),
    scale: number(call.scale, 4),
    bias: "",
    score: number(scores[key]),
  });
  if (!allowed[key]) return filled(table.masked, { cell: sentence, dot });
  const place = filled(open.length > 1 ? table.place : table.only, {
    rank: rank === 1 ? table.largest : filled(table.rank, { rank }),
    n: open.length,
  });
  const share = percent(numbers, shares[key], 0);
  return filled(table.open, { cell: sentence, dot, place, share });
}

function sumOf(values) {
  let sum = 0;
  for (const value of values) sum += value;
  return sum;
}
