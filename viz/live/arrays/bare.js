// Arrays of weights under the names of kinds -> a recording: `from_weights` of
// transformer/recording/arrays.py, in whose order, and in whose words, what does not fit is refused.

import { filled, fixed } from "../payloads/numbers.js";
import { floatsOf, NotTaken } from "./file.js";

// arrays: as `arraysIn` gives them. says: `says` of viz/live/bare_arrays.py. Returns { attentions,
// source, target, notes }; attentions: kind -> { queries, keys, produced, numbers, nHeads, layers,
// closed }; layers: of each the weights [H, Q, K], and what masks leave open, null for all. Throws NotTaken.
export function bareRecording(name, arrays, says) {
  const refused = (template, values) => new NotTaken(filled(says[template], values));
  const all = kindsIn(name, arrays, says, refused);
  const made = Object.fromEntries([...all].map(([kind, value]) => [kind, layersOf(kind, value, says, refused)]));
  const [rows, columns] = arrays.has("tokens") ? textsIn(name, arrays.get("tokens"), says, refused) : [];
  const kinds = Object.keys(made);
  const entries = says.roles.filter((kind) => made[kind]).map((kind) => {
    return [kind, attentionOf(kind, made[kind], sidesOf(kind, kinds, rows, columns), refused)];
  });
  const attentions = Object.fromEntries(entries);
  const sums = entries.map(([kind, of]) => noteOnSums(kind, of, says)).filter(Boolean);
  const single = entries.filter(([, { queries, layers }]) => queries.length === 1 && layers.length > 1);
  const steps = single.map(([kind, { layers }]) => filled(says.one_row, { name: kind, n: layers.length }));
  return { attentions, ...sourceAndTarget(attentions), notes: [...sums, ...steps] };
}

// Kind -> its array, or arrays of its layers.
function kindsIn(name, arrays, says, refused) {
  const ours = new RegExp(`^(?:${says.names})$`);
  const names = [...arrays.keys()].filter((each) => each !== "tokens");
  const other = names.find((each) => !ours.test(each));
  if (other !== undefined || !names.length) {
    const what = other === undefined ? says.no_kind : filled(says.not_a_kind, { name: quoted(other) });
    throw refused("kind", { what, kinds: says.roles.join(", ") });
  }
  const [kinds, parts] = [new Map(), new Map()];
  for (const each of names) {
    const [, kind, layer, field] = ours.exec(each);
    if (field && field !== "weights") throw refused("not_read", { name, what: each });
    if (layer === undefined && !field) kinds.set(kind, arrays.get(each));
    else if (!parts.has(kind)) parts.set(kind, new Map([[layer, arrays.get(each)]]));
    else parts.get(kind).set(layer, arrays.get(each));
  }
  for (const [kind, of] of parts) {
    if (kinds.has(kind)) throw refused("twice", { kind });
    kinds.set(kind, of.get(undefined) ?? inOrder(kind, of, refused));
  }
  return kinds;
}

function inOrder(name, parts, refused) {
  const layers = new Map([...parts].map(([layer, array]) => [Number(layer), array]));
  const numbers = [...layers.keys()].sort((a, b) => a - b);
  const missing = numbers.findIndex((number, i) => number !== i);
  if (missing >= 0) throw refused("missing", { layer: missing, name, layers: shown(numbers) });
  return numbers.map((number) => layers.get(number));
}

// { shape: [H, Q, K], layers: weights of each as float32 }.
function layersOf(name, value, says, refused) {
  const each = Array.isArray(value) ? value.map((it) => ofOne(name, it, refused)) : ofWhole(name, value, says, refused);
  const [first] = each;
  for (const [layer, { shape, values }] of each.entries()) {
    if (`${shape}` !== `${first.shape}`) {
      throw refused("unlike", { layer, name, shape: shown(shape), first: shown(first.shape) });
    }
    if (!values.length) throw refused("nothing", { name, layer, shape: shown(shape) });
    const lost = values.findIndex((number) => !Number.isFinite(number));
    const head = Math.floor(lost / (shape[1] * shape[2]));
    if (lost >= 0) throw refused("lost", { name, layer, head });
  }
  const below = each.findIndex(({ values }) => values.some((number) => number < 0));
  if (below >= 0) throw refused("below", { name, layer: below });
  return { shape: first.shape, layers: each.map(({ values }) => values) };
}

function ofWhole(name, array, says, refused) {
  const { shape } = array;
  if (shape?.length === 5) throw refused("batch", { name, shape: shown(shape) });
  if (shape?.length !== 4 || !shape[0]) {
    throw refused("other_axes", { name, shape: shown(shape ?? []), axes: says.axes });
  }
  const values = floatsOf(array);
  const [n, size] = [shape[0], values.length / shape[0]];
  return Array.from({ length: n }, (_, i) => ({
    shape: shape.slice(1),
    values: values.subarray(i * size, (i + 1) * size),
  }));
}

// Of one layer, which libraries give with a batch of one.
function ofOne(name, array, refused) {
  const shape = array.shape ?? [];
  if (shape.length === 4 && shape[0] !== 1) throw refused("batch_of_layer", { name, n: shape[0] });
  const own = shape.length === 4 ? shape.slice(1) : shape;
  if (own.length !== 3) throw refused("other_axes_of_layer", { name, shape: shown(shape) });
  return { shape: own, values: floatsOf(array) };
}

// Tokens of rows and columns: numbers where no text stands beside the weights.

function textsIn(name, text, says, refused) {
  let every;
  try {
    every = JSON.parse(text);
    for (const kind of says.roles.filter((each) => every[each])) {
      every[kind] = ["queries", "keys"].map((side) => tokensOf(every[kind][side], says));
    }
  } catch {
    throw refused("not_read", { name, what: "tokens" });
  }
  const [rows, columns] = every.cross ?? every.decoder_self ?? [];
  const own = every.encoder_self ?? [];
  return [rows ?? own[0], (every.cross ? null : own[1]) ?? columns];
}

// The id of each is where its piece first stood.
function tokensOf(tokens, { special, unknown }) {
  const isSpecial = new RegExp(`^(?:${special})$`);
  const pieces = tokens.map(({ piece }) => piece);
  return pieces.map((piece) => {
    const token = { id: pieces.indexOf(piece), piece, special: isSpecial.test(piece) };
    return { ...token, unknown: unknown.includes(piece) };
  });
}

const numbered = (n) =>
  Array.from({ length: n }, (_, id) => ({ id, piece: String(id), special: false, unknown: false }));

// Two texts where some kind reads another one.
function sidesOf(kind, kinds, rows, columns) {
  if (kind === "cross") return [rows, columns];
  if (kinds.length > 1) return kind === "encoder_self" ? [columns, columns] : [rows, rows];
  return [rows ?? columns, columns ?? rows];
}

function attentionOf(kind, { shape: [nHeads, nQueries, nKeys], layers }, [rows, columns], refused) {
  const isRest = rows && rows === columns && nQueries < nKeys && nKeys === rows.length;
  const names = isRest ? rows.slice(-nQueries) : rows; // of a text whose others were read before
  for (const [tokens, side, n] of [[names, "rows", nQueries], [columns, "columns", nKeys]]) {
    if (tokens && tokens.length !== n) {
      throw refused("other_tokens", { kind, n, side, n_tokens: tokens.length });
    }
  }
  const open = kind === "decoder_self" ? causal(nQueries, nKeys, layers) : null;
  return {
    queries: names ?? numbered(nQueries),
    keys: columns ?? numbered(nKeys),
    produced: null,
    numbers: layers.map((_, i) => i),
    nHeads,
    layers: layers.map((weights) => ({ weights, open })),
  };
}

// The cells up to each row's own token, rows being the last of the keys, where no other has any weight;
// null: all are open.
function causal(nQueries, nKeys, layers) {
  const open = new Uint8Array(nQueries * nKeys);
  for (let i = 0; i < open.length; i++) {
    open[i] = Number((i % nKeys) - Math.floor(i / nKeys) <= nKeys - nQueries);
  }
  const isCausal = layers.every((weights) => !weights.some((it, i) => it && !open[i % open.length]));
  return isCausal && open.includes(0) ? open : null;
}

function noteOnSums(name, { keys, layers }, { sums, sums_why: why, rough }) {
  let [least, largest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const n = keys.length;
  for (const { weights } of layers) {
    for (let at = 0; at < weights.length; at += n) {
      const sum = weights.subarray(at, at + n).reduce((a, b) => a + b, 0);
      [least, largest] = [Math.min(least, sum), Math.max(largest, sum)];
    }
  }
  if (Math.max(1 - least, largest - 1) <= rough) return "";
  return filled(sums, { name, why, least: fixed(least, 2), largest: fixed(largest, 2) });
}

// The text that was read, and the one that was written or is read beside it.
function sourceAndTarget({ cross, decoder_self: own, encoder_self: encoder }) {
  const [written, read] = [cross ?? own, cross ?? encoder];
  if (!written || !read) return { source: (written ?? read).keys, target: [] };
  return { source: read.keys, target: written.queries };
}

const shown = (numbers) => `[${numbers.join(", ")}]`; // as Python writes a list

// As Python writes a name.
function quoted(name) {
  const text = name.includes("'") ? `"${name}"` : `'${name}'`;
  return text.length <= 60 ? text : `${text.slice(0, 60)}…`;
}
