// A text's answer in numbers: what is read, what is written, how it came about, and where heads
// look.
//
// The engine's face, whose names and shapes stay: openCheckpoint, answer, sourceOf and textOf here;
// evidenceOf of evidence.js, searchingChange of change.js, callOf of inside.js and tokenOf of
// tokenizer.js, each of which takes what these two give. One thing after the other is asked of what
// was opened: it has one state. What a person can mend is thrown as an Error of one sentence.

import { openCells } from "./changes.js";
import { sideRead } from "./config.js";
import { decode, stepsOf } from "./decoding.js";
import { classify, openModel, record, start } from "./model.js";
import {
  decodeText,
  encode,
  openCharacters,
  openNumbers,
  openTokenizer,
  tokenOf,
} from "./tokenizer.js";

const MOST_CHARACTERS = 20_000; // of a text; longer ones are refused before they are split
const CACHE = 24e6; // bytes of the last answers

// The tokenizers that are read, as "tokenizer" of config.json names them; bytes: of their file.
const TOKENIZERS = {
  sentencepiece(bytes) {
    const own = openTokenizer(bytes);
    return {
      encode: (text) => encode(own, text),
      decode: (ids) => decodeText(own, ids),
      token: (id) => tokenOf(own, id),
    };
  },
  numbers: (_, { vocab_size }) => openNumbers(vocab_size),
  characters: (bytes) => openCharacters(bytes),
};

// config: config.json. files: { model, tokenizer, kernel }: model.safetensors and the tokenizer's
// file, where it has one, as array buffers; kernel: the compiled kernel.wasm (WebAssembly.Module),
// or null where the browser has no SIMD. groups: tokens -> the positions of each word, as
// `word_groups` of transformer/words.py.
export function openCheckpoint({ config, files, groups = everyToken }) {
  const of = TOKENIZERS[config.tokenizer];
  if (!of) {
    const kind = `a tokenizer of the kind ${config.tokenizer}`;
    throw new Error(`Without a server no model with ${kind} is read: open it in the app.`);
  }
  const tokenizer = of(files.tokenizer && new Uint8Array(files.tokenizer), config.model);
  const model = openModel(config.model, files.model, files.kernel);
  const cache = { most: CACHE, bytes: 0, entries: new Map() };
  return { config, tokenizer, token: tokenizer.token, model, groups, cache };
}

const everyToken = (tokens) => tokens.map((_, position) => [position]);

// asked: { text, method, options, changes, prefix, target }; all but the text may be left out. method:
// "beam" or "greedy"; options: { beam_size, length_penalty, max_len, ... }; changes: spelled as in
// addresses, ["head-off:cross.2.3"]; prefix: ids that the target begins with; target: ids that are
// read in the place of what would be written, of which there are no steps. Returns {
//   sourceIds, targetIds, readIds: what is read, what is written, what the decoder reads;
//   source, target, read: the same as tokens, see tokenOf; produced: what follows each of `read`;
//   words, targetWords: the positions of each word of source and target;
//   text: what is written; isEnded: whether by the model's will;
//   logProbs [T]: of each written token, in nats; logProb: their sum;
//   steps [T]: see stepsOf; tree: see treeOf;
//   hypotheses: { ids, score, logProb, leaf }, best first;
//   classes: { name, logit, prob } of each, where it classifies and nothing is written; else null;
//   weights(kind, layer): a Float32Array [H, Q, K];
//   allowed(kind, layer): a Uint8Array [1 or H, Q, K], 1: the cell may be looked at, the same array
//   for the same mask; null: all may;
//   token(id): see tokenOf; changes: as asked; asked: { method, options, prefix } }
export function answer(open, asked) {
  const { text, method = "beam", options = {}, changes = [], prefix = [], target = null } = asked;
  const all = { text, method, options, changes, prefix, target };
  return kept(open.cache, JSON.stringify(Object.values(all)), () => answered(open, all));
}

function answered(open, { text, method, options, changes, prefix, target: given }) {
  const { config, model, token } = open;
  const { n_heads, family } = model.config;
  const sourceIds = sourceOf(open, text);
  const source = sourceIds.map(token);
  const words = open.groups(source);
  const isClassifier = family === "encoder_classifier";
  const usual = { ...config.decoding?.[method], ...options };
  const isWriting = !isClassifier && !given;
  if (isWriting) start(model, sourceIds, changes, words);
  const { hypotheses, tree } = isWriting
    ? decode(model, sourceIds, method, usual, prefix)
    : nothingBut(isClassifier ? [] : given);
  const targetIds = hypotheses[0].ids;
  const begun = family === "decoder_only" ? sourceIds : [model.config.bos_id];
  const readIds = isClassifier ? [] : [...begun, ...targetIds.slice(0, -1)];
  const target = targetIds.map(token);
  const steps = isWriting ? stepsOf(hypotheses[0]) : [];
  const maps = record(model, sourceIds, targetIds, changes, words);
  const classes = isClassifier ? classesOf(model, sourceIds.length) : null;
  const { heads, closed } = model.changes;
  const sizes = {
    encoder_self: [sourceIds.length, sourceIds.length],
    decoder_self: [readIds.length, readIds.length],
    cross: [readIds.length, sourceIds.length],
  };
  // The same array for the layers that nothing tells apart.
  const cells = new Map();
  const allowed = (kind, layer) => {
    const place = heads.has(`${kind}.${layer}`) ? `${kind}.${layer}` : kind;
    if (!cells.has(place)) {
      cells.set(place, openCells({ heads, closed }, kind, layer, n_heads, ...sizes[kind]));
    }
    return cells.get(place);
  };
  const value = {
    sourceIds,
    targetIds,
    readIds,
    source,
    target,
    read: readIds.map(token),
    produced: [...(family === "decoder_only" ? source.slice(1) : []), ...target],
    words,
    targetWords: open.groups(target),
    text: classes ? predicted(classes) : textOf(open, targetIds, sourceIds),
    isEnded: model.config.eos_id === null || targetIds.at(-1) === model.config.eos_id,
    classes,
    logProbs: steps.map(({ logProb }) => logProb),
    logProb: hypotheses[0].logProb,
    steps,
    hypotheses: hypotheses.map(({ ids, score, logProb, leaf }) => ({ ids, score, logProb, leaf })),
    tree,
    weights: (kind, layer) => maps[kind][layer],
    allowed,
    token,
    changes,
    asked: { method, options, prefix },
  };
  const bytes = Object.values(maps).flat().reduce((sum, { byteLength }) => sum + byteLength, 0);
  return { value, bytes: bytes + 500 * (tree.nodes.length + 20 * steps.length) };
}

// What a model writes that only reads.
const nothingBut = (ids) => ({
  hypotheses: [{ ids, rows: [], score: 0, logProb: 0, leaf: 0 }],
  tree: { nodes: [], leaves: [] },
});

function classesOf(model, n) {
  const logits = classify(model, n);
  const top = Math.max(...logits);
  const sum = logits.reduce((all, logit) => all + Math.exp(logit - top), 0);
  const prob = (logit) => Math.exp(logit - top) / sum;
  const { classes } = model.config;
  return classes.map((name, i) => ({ name, logit: logits[i], prob: prob(logits[i]) }));
}

const predicted = (classes) => classes.reduce((a, b) => (b.logit > a.logit ? b : a)).name;

// The value of a key, made where it is not kept: make() -> { value, bytes }. Of more bytes than the
// cache may have, what was not used for longest leaves first.
function kept(cache, key, make) {
  const entry = cache.entries.get(key) ?? make();
  if (!cache.entries.delete(key)) cache.bytes += entry.bytes;
  cache.entries.set(key, entry); // the newest
  for (const [oldest, { bytes }] of cache.entries) {
    if (cache.bytes <= cache.most || oldest === key) break;
    cache.entries.delete(oldest);
    cache.bytes -= bytes;
  }
  return entry.value;
}

// The ids of a text, with the special tokens that the model was trained with.
export function sourceOf({ config, tokenizer, token, model }, text) {
  if (!text.trim()) throw new Error("The text is empty: type a sentence.");
  if ([...text].length > MOST_CHARACTERS) {
    const most = MOST_CHARACTERS.toLocaleString("en");
    throw new Error(`The text is longer than ${most} characters: shorten it.`);
  }
  const { bos_id, eos_id, max_len, family } = model.config;
  const ids = tokenizer.encode(text);
  if (ids.every((id) => token(id).special || token(id).unknown)) {
    throw new Error("This text holds nothing that the model can read: type a sentence.");
  }
  if (config.tokenizer === "sentencepiece") {
    if (sideRead(model.config) === "source") ids.push(eos_id);
    if (family === "decoder_only") ids.unshift(bos_id);
  }
  if (ids.length > max_len) {
    throw new Error(`The text has ${ids.length} tokens; at most ${max_len} are read. Shorten it.`);
  }
  return ids;
}

// The text that ids spell; after a prompt all that follows it, with the space between.
export function textOf({ tokenizer, model }, ids, sourceIds = []) {
  const own = tokenizer.decode(ids);
  if (model.config.family !== "decoder_only") return own;
  const [begun, whole] = [sourceIds, [...sourceIds, ...ids]].map(tokenizer.decode);
  return whole.startsWith(begun) ? whole.slice(begun.length) : own;
}
