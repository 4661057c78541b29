// The model of a checkpoint: it reads a source, goes on writing a step at a time, or says of which
// class the source is, and records its heads. B rows, S source, T target, D d_model, V vocabulary,
// H heads, Q queries, K keys.

import { actsOn, changesOf } from "./changes.js";
import { layersOf, readConfig } from "./config.js";
import { attendHead, gelu } from "./plain.js";
import { openWeights, tensor } from "./weights.js";

export const ROWS = 16; // texts that are written at once, and rows of logits, at most

const EMBEDDING = "embedding.weight"; // also what logits are made by

// config: "model" of config.json. file: model.safetensors, an ArrayBuffer. kernel: see weights.js.
export function openModel(given, file, kernel) {
  const config = readConfig(given);
  const { d_model, d_ff, n_heads, n_decoder_layers, max_len, vocab_size } = config;
  const n_rows = Math.max(max_len, ROWS); // a beam may be wider than the longest text
  const sequence = n_rows * d_model;
  const weights = openWeights(file, kernel, {
    zeros: padded(vocab_size), // the bias of logits, which have none
    lines: 4 * Math.max(d_model, d_ff), // of a matrix that is kept in halves
    states: sequence,
    normed: sequence,
    queries: sequence,
    mixed: sequence,
    given: sequence,
    inner: n_rows * d_ff,
    logits: ROWS * padded(vocab_size),
    weights: n_heads * padded(max_len), // of one query
    places: ROWS * max_len, // of the keys that each row of the decoder sees
    seen: 2 * max_len, // of the keys of the source that the encoder sees, and the decoder
    keys: sequence,
    values: sequence,
    source_keys: n_decoder_layers * sequence,
    source_values: n_decoder_layers * sequence,
    own_keys: ROWS * n_decoder_layers * sequence, // a slot for each token that a row has read
    own_values: ROWS * n_decoder_layers * sequence,
  });
  const d_head = d_model / n_heads;
  return {
    ...weights,
    config,
    d_head,
    scale: 1 / Math.sqrt(d_head),
    positions: config.positions === "learned" ? learned(weights, config) : sinusoids(config),
    changes: null,
    source: null,
    first: null, // { id, past }: what decoding feeds first, and the slots of what was read before
    n_slots: 0,
    onCall: null, // see `callOf` of inside.js
  };
}

const padded = (n) => Math.ceil(n / 4) * 4;

function sinusoids({ max_len, d_model }) {
  const table = new Float32Array(max_len * d_model);
  for (let at = 0; at < max_len; at++) {
    for (let i = 0; i < d_model; i += 2) {
      const angle = at / 10000 ** (i / d_model);
      table[at * d_model + i] = Math.sin(angle);
      table[at * d_model + i + 1] = Math.cos(angle);
    }
  }
  return table;
}

// A row a position, as floats: the matrix may be kept in halves.
function learned(weights, { max_len, d_model }) {
  const table = new Float32Array(max_len * d_model);
  for (let at = 0; at < max_len; at++) {
    table.set(lineOf(weights, "positions.table", at), at * d_model);
  }
  return table;
}

// Reads a source, and forgets what was written. ids [S]; spelled: the changes of this run; words:
// the positions of each word; maps: where the weights of each layer are put [H, S, S], or null.
// What an encoder has read already under the same changes it does not read again; a generator reads
// the prompt but its last token, which decoding feeds first.
export function start(model, ids, spelled, words, maps = null) {
  const { config, rooms } = model;
  const changes = changesOf(spelled, config, words);
  [model.changes, model.n_slots] = [changes, 0];
  if (config.family === "decoder_only") {
    const past = ids.length > 1 ? read(model, ids.slice(0, -1), [[]], true) : [];
    model.first = { id: ids.at(-1), past };
    return;
  }
  const key = `${ids.join()} ${changes.read}`;
  const isRead = model.source?.key === key && !maps;
  model.source = null; // until all of it is read
  model.first = { id: config.bos_id, past: [] };
  const [self, cross] = ["encoder_self", "cross"].map((kind, i) => {
    const open = openIn(changes, kind, ids.length);
    const at = tabled(model, rooms.seen + 4 * i * config.max_len, open);
    return { at, n: open.length, open, n_all: ids.length };
  });
  if (!isRead) encode(model, ids, self, maps);
  model.source = { key, n: ids.length, cross };
}

// The positions, of so many, that nothing hides in a kind of attention.
function openIn({ closed }, kind, n) {
  return Array.from({ length: n }, (_, i) => i).filter((i) => !closed[kind].has(i));
}

// Writes where keys stand, by their numbers; returns the place of that.
function tabled({ config, places }, at, numbers) {
  numbers.forEach((number, i) => (places[at / 4 + i] = number * config.d_model * 4));
  return at;
}

function encode(model, ids, seen, maps) {
  const { config, rooms } = model;
  const n = ids.length;
  embed(model, ids, (row) => row);
  for (let layer = 0; layer < config.n_encoder_layers; layer++) {
    const name = `encoder.layers.${layer}`;
    const from = inputOf(model, `${name}.self_residual`, n);
    linear(model, `${name}.self_attention.key`, from, rooms.keys, n);
    linear(model, `${name}.self_attention.value`, from, rooms.values, n);
    const own = { kind: "encoder_self", layer, name: `${name}.self_attention`, from };
    const kept = maps && (maps[layer] = new Float32Array(config.n_heads * n * n));
    const place = { ...own, keys: rooms.keys, values: rooms.values };
    attend(model, place, n, () => seen, (row) => row, kept, n);
    join(model, `${name}.self_residual`, n);
    feed(model, name, n);
  }
  close(model, "encoder", n);
  for (let layer = 0; layer < config.n_decoder_layers; layer++) {
    const name = `decoder.layers.${layer}.cross_attention`;
    linear(model, `${name}.key`, rooms.states, ofLayer(model, "source_keys", layer), n);
    linear(model, `${name}.value`, rooms.states, ofLayer(model, "source_values", layer), n);
  }
}

// The place of a layer's part of a room that is shared by the layers of the decoder.
function ofLayer({ rooms, config: { max_len, d_model } }, name, layer) {
  const rows = name.startsWith("own") ? ROWS * max_len : max_len;
  return rooms[name] + layer * rows * d_model * 4;
}

// Reads a token more for each row: ids [B]. pasts: for each row the slots of the tokens that it has
// read. grows: the rows are one text, of which each sees those before it, too; else each is a text.
// maps: { decoder_self, cross }, where the weights of each layer are put [H, B, K], or null. The
// last states [B, D] stand in the room `states`. Returns the slot of each row. An id of -1 is a
// token that nobody knows: the mean of all embeddings.
export function read(model, ids, pasts, grows = false, maps = null) {
  const { config, source } = model;
  const n = ids.length;
  const slots = ids.map((_, row) => model.n_slots + row);
  model.n_slots += n;
  const seen = grows
    ? grownTables(model, [...pasts[0], ...slots], pasts[0].length)
    : pasts.map((past, row) => tableOf(model, row, [...past, slots[row]]));
  const queryOf = (row) => seen[row].n_all - 1;
  embed(model, ids, queryOf);
  for (let layer = 0; layer < config.n_decoder_layers; layer++) {
    const name = `decoder.layers.${layer}`;
    const from = inputOf(model, `${name}.self_residual`, n);
    const own = { kind: "decoder_self", layer, name: `${name}.self_attention`, from };
    own.keys = ofLayer(model, "own_keys", layer);
    own.values = ofLayer(model, "own_values", layer);
    const here = slots[0] * config.d_model * 4;
    linear(model, `${own.name}.key`, from, own.keys + here, n);
    linear(model, `${own.name}.value`, from, own.values + here, n);
    const n_keys = seen.at(-1).n_all;
    const kept = maps && (maps.decoder_self[layer] = new Float32Array(config.n_heads * n * n_keys));
    attend(model, own, n, (row) => seen[row], queryOf, kept, n_keys);
    join(model, `${name}.self_residual`, n);
    if (source) readSource(model, layer, n, queryOf, maps);
    feed(model, name, n);
  }
  close(model, "decoder", n);
  return slots;
}

function readSource(model, layer, n, queryOf, maps) {
  const { config, source } = model;
  const name = `decoder.layers.${layer}`;
  const from = inputOf(model, `${name}.cross_residual`, n);
  const cross = { kind: "cross", layer, name: `${name}.cross_attention`, from };
  cross.keys = ofLayer(model, "source_keys", layer);
  cross.values = ofLayer(model, "source_values", layer);
  const far = maps && (maps.cross[layer] = new Float32Array(config.n_heads * n * source.n));
  attend(model, cross, n, () => source.cross, queryOf, far, source.n);
  join(model, `${name}.cross_residual`, n);
}

// The keys that a row sees, whose slots these are: as `seen` of `attend` has them.
function tableOf(model, row, slots) {
  const { changes, config, rooms } = model;
  const isOpen = !changes.closed.decoder_self.size;
  const open = isOpen ? undefined : openIn(changes, "decoder_self", slots.length);
  const at = rooms.places + 4 * row * config.max_len;
  tabled(model, at, open ? open.map((i) => slots[i]) : slots);
  return { at, n: (open ?? slots).length, open, n_all: slots.length };
}

// The keys that the rows of one text see: each one more than the row before it.
function grownTables(model, slots, n_before) {
  const { at, open } = tableOf(model, 0, slots);
  return slots.slice(n_before).map((_, row) => {
    const n_all = n_before + row + 1;
    const own = open?.filter((position) => position < n_all);
    return { at, n: own?.length ?? n_all, open: own, n_all };
  });
}

// ids [B], each at its position -> the room `states` [B, D].
function embed(model, ids, positionOf) {
  const { config: { d_model, scaled_embeddings }, floats, rooms, positions } = model;
  const scale = scaled_embeddings ? Math.fround(Math.sqrt(d_model)) : 1;
  ids.forEach((id, row) => {
    const line = id < 0 ? meanEmbedding(model) : lineOf(model, EMBEDDING, id);
    const [to, place] = [rooms.states / 4 + row * d_model, positionOf(row) * d_model];
    for (let i = 0; i < d_model; i++) {
      floats[to + i] = Math.fround(line[i] * scale) + positions[place + i];
    }
  });
}

// A line of a matrix, to be read before the next one.
export function lineOf({ run, floats, at, rooms }, matrix, number) {
  const { place, shape: [, n], isHalf } = at[matrix];
  const from = place + number * n * (isHalf ? 2 : 4);
  if (isHalf) run.widen(from, rooms.lines, n);
  const line = (isHalf ? rooms.lines : from) / 4;
  return floats.subarray(line, line + n);
}

// [D]
function meanEmbedding(model) {
  const { d_model, vocab_size } = model.config;
  if (model.mean) return model.mean;
  const sums = new Float64Array(d_model);
  for (let id = 0; id < vocab_size; id++) {
    lineOf(model, EMBEDDING, id).forEach((value, i) => (sums[i] += value));
  }
  return (model.mean = Float32Array.from(sums, (sum) => sum / vocab_size));
}

// x W^T + b, and `least` at least: from a place to another, some rows. width: outputs of a row that
// are written, a multiple of 4; those behind the matrix's own mean nothing.
function linear({ run, at, rooms }, name, from, to, rows, least = -Infinity, width = 0) {
  const { place, shape: [n_outputs, n], isHalf } = at[`${name}.weight`];
  const m = width || n_outputs;
  const bias = at[`${name}.bias`]?.place ?? rooms.zeros;
  run.linear(from, place, bias, to, rows, n, m, isHalf ? rooms.lines : 0, least);
}

// Where a sublayer reads the states [B, D]: as they are, or before it their norm (AIAYN, section
// 3.1; Xiong et al. 2020).
function inputOf(model, residual, rows) {
  const { config, rooms } = model;
  if (config.norm_order === "post") return rooms.states;
  norm(model, `${residual}.norm`, rooms.normed, rows);
  return rooms.normed;
}

// The room `states` [B, D] takes in what a sublayer gave.
function join(model, residual, rows) {
  const { config: { d_model, norm_order }, floats, rooms } = model;
  const [x, y] = [rooms.states / 4, rooms.given / 4];
  for (let i = 0; i < rows * d_model; i++) floats[x + i] += floats[y + i];
  if (norm_order === "post") norm(model, `${residual}.norm`, rooms.states, rows);
}

// The norm after a stack's last layer, which leaves its sum as it is.
function close(model, stack, rows) {
  if (model.config.norm_order === "pre") norm(model, `${stack}.norm`, model.rooms.states, rows);
}

// The norm of the room `states` [B, D] -> a place.
function norm(model, name, to, rows) {
  const { config: { d_model, norm_eps }, floats, rooms } = model;
  const [gain, bias] = [tensor(model, `${name}.weight`), tensor(model, `${name}.bias`)];
  for (let row = 0; row < rows; row++) {
    const [x, y] = [rooms.states / 4 + row * d_model, to / 4 + row * d_model];
    let sum = 0;
    for (let i = 0; i < d_model; i++) sum += floats[x + i];
    const mean = sum / d_model;
    let squares = 0;
    for (let i = 0; i < d_model; i++) squares += (floats[x + i] - mean) ** 2;
    const rate = 1 / Math.sqrt(squares / d_model + norm_eps);
    for (let i = 0; i < d_model; i++) {
      floats[y + i] = (floats[x + i] - mean) * rate * gain[i] + bias[i];
    }
  }
}

function feed(model, name, rows) {
  const { config: { activation, d_ff }, floats, rooms } = model;
  const from = inputOf(model, `${name}.feed_residual`, rows);
  const least = activation === "relu" ? 0 : -Infinity;
  linear(model, `${name}.feed_forward.inner`, from, rooms.inner, rows, least);
  if (activation === "gelu") gelu(floats, rooms.inner / 4, rows * d_ff);
  linear(model, `${name}.feed_forward.outer`, rooms.inner, rooms.given, rows);
  join(model, `${name}.feed_residual`, rows);
}

// The attention of what stands at place.from -> the room `given`. place has kind, layer, name, keys
// and values; seen(row) { at, n, open, n_all }: where the table of the keys that it sees stands, how
// many they are, their positions where some may be hidden, and how many there are with those.
// queryOf(row): the number of its query. kept: the weights [H, B, K] of n_keys keys, or null.
function attend(model, place, rows, seen, queryOf, kept, n_keys) {
  const { config: { n_heads, d_model, max_len }, run, floats, rooms, d_head, scale } = model;
  linear(model, `${place.name}.query`, place.from, rooms.queries, rows);
  model.onCall?.(place, rows, n_keys);
  const step = 4 * padded(max_len);
  const changed = model.changes.heads.get(`${place.kind}.${place.layer}`);
  for (let row = 0; row < rows; row++) {
    const { at, n, open } = seen(row);
    const by = 4 * row * d_model;
    const [q, y] = [rooms.queries + by, rooms.mixed + by];
    if (!n) { // all that it sees is hidden: nothing is added
      floats.fill(0, y / 4, y / 4 + d_model);
      continue;
    }
    const { keys, values } = place;
    run.attend(q, keys, values, at, n, n_heads, 4 * d_head, scale, y, rooms.weights, step);
    const own = { q, k: keys, v: values, y, at, n };
    if (changed) change(model, changed, own, queryOf(row), seen(row));
    for (let head = 0; kept && head < n_heads; head++) {
      const from = (rooms.weights + head * step) / 4;
      const to = (head * rows + row) * n_keys;
      if (open?.length < n_keys) open.forEach((key, i) => (kept[to + key] = floats[from + i]));
      else kept.set(floats.subarray(from, from + n), to);
    }
  }
  linear(model, `${place.name}.output`, rooms.mixed, rooms.given, rows);
}

// What was done to heads, in the place of what they gave for a query. changed: head -> changes.
function change(model, changed, row, query, { open, n_all }) {
  const { config: { max_len }, floats, places, rooms, d_head, scale } = model;
  const size = 4 * d_head;
  for (const [head, changes] of changed) {
    const here = actsOn(changes, query);
    const rescored = here.filter(({ kind }) => kind.scores);
    const by = head * size;
    const own = { ...row, q: row.q + by, k: row.k + by, v: row.v + by, y: row.y + by };
    const weights = rooms.weights + head * 4 * padded(max_len);
    if (rescored.length) {
      attendHead(floats, places, { ...own, size, scale, weights }, (scores) => {
        const all = open ? new Float64Array(n_all).fill(-Infinity) : scores;
        if (open) open.forEach((key, i) => (all[key] = scores[i]));
        for (const each of rescored) {
          each.kind.scores(each, all);
          if (all.every((score) => score === -Infinity)) {
            throw new Error(`${each.text} leaves query ${query} no key to look at.`);
          }
        }
        if (open) open.forEach((key, i) => (scores[i] = all[key]));
      });
    }
    const z = floats.subarray(own.y / 4, own.y / 4 + d_head);
    for (const each of here) each.kind.heads?.(each, z);
  }
}

// The distributions that the last states of `read` [B, D] give: take(row, from) is called for each,
// whose log-probabilities are floats[from + id].
export function distributions(model, n_rows, take) {
  const { config: { d_model, vocab_size }, floats, run, rooms } = model;
  const width = padded(vocab_size);
  for (let first = 0; first < n_rows; first += ROWS) {
    const n = Math.min(ROWS, n_rows - first);
    const from = rooms.states + 4 * first * d_model;
    linear(model, "embedding", from, rooms.logits, n, -Infinity, width);
    for (let row = 0; row < n; row++) {
      const at = rooms.logits + 4 * row * width;
      floats.fill(-Infinity, at / 4 + vocab_size, at / 4 + width); // of no token
      const top = run.largest(at, width);
      run.lower(at, width, top + Math.log(run.sum_exp(at, width, top)));
      take(first + row, at / 4);
    }
  }
}

// The same as rows of log-probabilities, [V] each.
export function logProbabilities(model, n_rows) {
  const rows = [];
  distributions(model, n_rows, (_, from) => {
    rows.push(model.floats.slice(from, from + model.config.vocab_size));
  });
  return rows;
}

// The ids of the k largest numbers of a row, largest first; of equal ones the first.
export function best(row, k) {
  const ids = [];
  let least = -Infinity;
  for (let id = 0; id < row.length; id++) {
    if (row[id] <= least) continue;
    let at = ids.length;
    while (at && row[ids[at - 1]] < row[id]) at--;
    ids.splice(at, 0, id);
    if (ids.length > k) ids.pop();
    if (ids.length === k) least = row[ids[k - 1]];
  }
  return ids;
}

// One forced pass over a source and a target, under changes: the weights of every head, kind of
// attention -> layers of [H, Q, K]. A decoder reads what it is given first, and all of the target
// but its last.
export function record(model, source, target, spelled, words) {
  const { family, bos_id } = model.config;
  const maps = Object.fromEntries(Object.keys(layersOf(model.config)).map((kind) => [kind, []]));
  const isGenerator = family === "decoder_only";
  start(model, isGenerator ? [] : source, spelled, words, maps.encoder_self);
  const before = isGenerator ? source : [bos_id];
  if (maps.decoder_self) read(model, [...before, ...target.slice(0, -1)], [[]], true, maps);
  return maps;
}

// The logits of the classes of a source of so many tokens that was just read, [C]; its states are
// pooled: their mean, or each dimension's largest value, of words that are not hidden.
export function classify(model, n) {
  const { config: { d_model, pooling, classes }, floats, rooms } = model;
  const pooled = new Float32Array(d_model).fill(pooling === "max" ? -Infinity : 0);
  const open = openIn(model.changes, "encoder_self", n);
  if (!open.length) {
    throw new Error("Every word is hidden: nothing is left that could be classified.");
  }
  for (const row of open) {
    const from = rooms.states / 4 + row * d_model;
    for (let i = 0; i < d_model; i++) {
      const value = floats[from + i];
      pooled[i] = pooling === "max" ? Math.max(pooled[i], value) : pooled[i] + value;
    }
  }
  if (pooling === "mean") for (let i = 0; i < d_model; i++) pooled[i] /= open.length;
  const bias = tensor(model, "classify.bias");
  return classes.map((_, number) => {
    const line = lineOf(model, "classify.weight", number);
    return pooled.reduce((sum, value, i) => sum + value * line[i], bias[number]);
  });
}
