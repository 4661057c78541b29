// A recording that `Recording.save` wrote, opened as transformer/recording/opening.py does: its JSON
// names arrays, and parts by their classes. Weights are computed of q and k where it has these.

import { filled } from "../payloads/numbers.js";
import { floatsOf, NotTaken } from "./file.js";

// As `bareRecording` of bare.js. header: the name of the JSON among the arrays is `says.header`.
export function savedRecording(name, arrays, says) {
  const refused = (template, values) => new NotTaken(`${name} ${filled(says[template], values)}.`);
  const notRead = (what) => new NotTaken(filled(says.not_read, { name, what }));
  try {
    const { format, recording } = JSON.parse(arrays.get(says.header));
    if (format !== says.format) throw refused("other_format", { format, own: says.format });
    const { source, target, attentions, notes } = partOf(recording, "Recording");
    const entries = attentions.pairs.map(([kind, value]) => {
      if (!says.roles.includes(kind)) throw notRead(kind);
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

// `weights` and `allowed` of transformer/recording/calls.py.
function layerOf({ q, k, given, mask, bias, low, added, scale, is_causal: isCausal, is_safe: isSafe }, isGiven, [nQueries, nKeys], arrays) {
  const tensor = (reference) => reference && tensorOf(reference, arrays);
  const [queries, keys] = [q, k].map(tensor);
  const nHeads = queries.shape[0];
  const n = [nHeads, nQueries, nKeys];
  const [addends, masked] = [[bias, low, added].map(tensor).filter(Boolean), tensor(mask)];
  for (const each of [...addends, ...(masked ? [masked] : [])]) requireShape(each, n);
  requireShape(queries, [nHeads, nQueries, queries.shape[2]]);
  const whole = isGiven ? tensor(given) : null;
  if (whole && `${whole.shape}` !== `${n}`) throw new TypeError("weights of another shape");
  const open = new Uint8Array(nHeads * nQueries * nKeys);
  const weights = whole ? floatsOf(whole).slice() : new Float32Array(open.length);
  const ofGroup = nHeads / keys.shape[0];
  const width = queries.shape[2];
  if (!isGiven) requireShape(keys, [keys.shape[0], nKeys, width]);
  for (let head = 0; head < nHeads; head++) {
    const first = Math.floor(head / ofGroup) * nKeys * width;
    for (let query = 0; query < nQueries; query++) {
      const from = (head * nQueries + query) * nKeys;
      for (let key = 0; key < nKeys; key++) {
        const isOpen = (!isCausal || key <= query) && (!masked || at(masked, head, query, key));
        open[from + key] = Number(Boolean(isOpen));
      }
      if (whole) continue;
      const scores = weights.subarray(from, from + nKeys);
      for (let key = 0; key < nKeys; key++) {
        const [one, other] = [(head * nQueries + query) * width, first + key * width];
        let sum = 0;
        for (let d = 0; d < width; d++) sum += queries.floats[one + d] * keys.floats[other + d];
        sum *= scale;
        for (const each of addends) sum += at(each, head, query, key);
        scores[key] = open[from + key] ? sum : Number.NEGATIVE_INFINITY;
      }
      softmax(scores, isSafe);
    }
  }
  const lows = tensor(low);
  if (lows) {
    for (let i = 0; i < open.length; i++) {
      const [head, query] = [Math.floor(i / (nQueries * nKeys)), Math.floor(i / nKeys) % nQueries];
      if (at(lows, head, query, i % nKeys) < 0 && weights[i] === 0) open[i] = 0;
    }
  }
  return { weights, open: open.includes(0) ? open : null };
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
function at({ shape: [nHeads, nQueries, nKeys], floats }, head, query, key) {
  const row = (nHeads === 1 ? 0 : head) * nQueries + (nQueries === 1 ? 0 : query);
  return floats[row * nKeys + key];
}

function requireShape({ shape }, sizes) {
  const fits = (size, axis) => size === sizes[axis] || (size === 1 && axis < 2);
  if (shape.length !== 3 || !shape.every(fits)) throw new TypeError("numbers of another shape");
}
