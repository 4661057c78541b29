// A recording that `Recording.save` wrote, opened as transformer/recording/opening.py does: its JSON
// names arrays, and parts by their classes. Weights are computed of q and k where it has these.

import { filled } from "../payloads/numbers.js";
import { floatsOf, NotTaken } from "./file.js";

const LONGEST = 60; // letters of a name in a sentence

// As `bareRecording` of bare.js. header: the name of the JSON among the arrays is `says.header`.
export function savedRecording(name, arrays, says) {
  const refused = (template, values) => new NotTaken(`${name} ${filled(says[template], values)}.`);
  const notRead = (what) => new NotTaken(filled(says.not_read, { name, what }));
  try {
    const { format, recording } = JSON.parse(arrays.get(says.header));
    if (format !== says.format) throw refused("other_format", { format, own: says.format });
    const { source, target, attentions, notes } = partOf(recording, "Recording");
    const entries = attentions.pairs.map(([kind, value]) => {
      if (!says.roles.includes(kind)) throw notRead(kind.slice(0, LONGEST));
      return [kind, attentionOf(partOf(value, "Attention"), arrays)];
    });
    if (!entries.length) throw refused("no_attention");
    const added = entries.find(([, { keys }]) => keys.some(({ id }) => id < 0));
    if (added) throw notRead(`${added[0]} with keys that a model added`);
    const [read, written] = [source, target].map(tokensOf);
    return { attentions: Object.fromEntries(entries), source: read, target: written, notes };
  } catch (error) {
    throw error instanceof NotTaken ? error : refused("not_whole_recording");
  }
}

function partOf({ is, of }, ...names) {
  if (!names.includes(is)) throw new TypeError(`${is} stands where ${names} belongs`);
  return of;
}

const tokensOf = (tokens) => tokens.map((token) => partOf(token, "Token"));

function attentionOf({ queries, keys, produced, calls, numbers }, arrays) {
  const [rows, columns] = [queries, keys].map(tokensOf);
  const sizes = [rows.length, columns.length];
  const layers = calls.map((call) => {
    const isGiven = call.is === "WeightsCall";
    return layerOf(partOf(call, "WeightsCall", "AttentionCall"), isGiven, sizes, arrays);
  });
  return {
    queries: rows,
    keys: columns,
    produced: produced && tokensOf(produced),
    numbers: numbers.length ? numbers : layers.map((_, i) => i),
    nHeads: layers[0].weights.length / (rows.length * columns.length),
    layers,
  };
}

// `weights` and `allowed` of transformer/recording/calls.py, where `open` is null where all cells are.
function layerOf(call, isGiven, [nQueries, nKeys], arrays) {
  const tensor = (name) => call[name] && tensorOf(call[name], arrays);
  const q = tensor("q");
  const sizes = [q.shape[0], nQueries, nKeys];
  const [mask, low] = ["mask", "low"].map(tensor);
  const addends = [tensor("bias"), low, tensor("added")].filter(Boolean);
  for (const each of [...addends, ...(mask ? [mask] : [])]) requireShape(each, sizes);
  const open = new Uint8Array(sizes.reduce((a, b) => a * b, 1));
  eachCell(sizes, (i, ...cell) => {
    const [, query, key] = cell;
    open[i] = Number((!call.is_causal || key <= query) && (!mask || valueAt(mask, cell) !== 0));
  });
  const weights = isGiven
    ? givenOf(tensor("given"), sizes)
    : weightsOf(q, tensor("k"), addends, open, sizes, call);
  eachCell(sizes, (i, ...cell) => {
    if (low && weights[i] === 0 && valueAt(low, cell) < 0) open[i] = 0;
  });
  return { weights, open: open.includes(0) ? open : null };
}

function givenOf({ shape, floats }, sizes) {
  if (`${shape}` !== `${sizes}`) throw new TypeError("weights of another shape");
  return floats.slice();
}

// softmax(q k^T * scale + what is added) over the keys that are open.
function weightsOf(q, k, addends, open, [nHeads, nQueries, nKeys], { scale, is_safe: isSafe }) {
  const [nGroups, , width] = k.shape;
  requireShape(q, [nHeads, nQueries, width]);
  requireShape(k, [nGroups, nKeys, width]);
  const scores = new Float32Array(open.length);
  eachCell([nHeads, nQueries, nKeys], (i, ...cell) => {
    const [head, query, key] = cell;
    const group = Math.floor((head * nGroups) / nHeads);
    const [one, other] = [(head * nQueries + query) * width, (group * nKeys + key) * width];
    let sum = 0;
    for (let d = 0; d < width; d++) sum += q.floats[one + d] * k.floats[other + d];
    const score = addends.reduce((so, each) => so + valueAt(each, cell), sum * scale);
    scores[i] = open[i] ? score : Number.NEGATIVE_INFINITY;
  });
  for (let at = 0; at < scores.length; at += nKeys) softmax(scores.subarray(at, at + nKeys), isSafe);
  return scores;
}

// visit(i, head, query, key): of each cell, row by row.
function eachCell([nHeads, nQueries, nKeys], visit) {
  let i = 0;
  for (let head = 0; head < nHeads; head++) {
    for (let query = 0; query < nQueries; query++) {
      for (let key = 0; key < nKeys; key++) visit(i++, head, query, key);
    }
  }
}

// In place; a row without an open cell is 0 where that is safe.
function softmax(scores, isSafe) {
  const most = scores.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  if (most === Number.NEGATIVE_INFINITY) return scores.fill(isSafe ? 0 : Number.NaN);
  const parts = Array.from(scores, (score) => Math.exp(score - most));
  const sum = parts.reduce((a, b) => a + b, 0);
  return scores.set(parts.map((part) => part / sum));
}

function tensorOf({ array, type }, arrays) {
  const own = arrays.get(array);
  const isBits = type === "bfloat16" && own.type === "int16"; // numpy has no such numbers
  if (own.type !== type && !isBits) throw new TypeError("numbers are of another type");
  return { ...own, floats: floatsOf({ ...own, type }) };
}

// The value of a tensor [1 or H, 1 or Q, K].
function valueAt({ shape: [nHeads, nQueries, nKeys], floats }, [head, query, key]) {
  const row = (nHeads === 1 ? 0 : head) * nQueries + (nQueries === 1 ? 0 : query);
  return floats[row * nKeys + key];
}

function requireShape({ shape }, sizes) {
  const fits = (size, axis) => size === sizes[axis] || (size === 1 && axis < 2);
  if (shape.length !== 3 || !shape.every(fits)) throw new TypeError("numbers of another shape");
}
