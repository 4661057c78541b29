// A text's answer in numbers: what is read, what is written, how it came about, and where heads
// look.
//
// The engine's face, whose names and shapes stay: openCheckpoint, answer, sourceOf and textOf here;
// evidenceOf of evidence.js, searchingChange of change.js, callOf of inside.js and tokenOf of
// tokenizer.js, each of which takes what these two give. One thing after the other is asked of what
// was opened: it has one state. What a person can mend is thrown as an Error of one sentence.

import { openCells } from "./changes.js";
import { decode, stepsOf } from "./decoding.js";
import { openModel, record, start } from "./model.js";
import { decodeText, encode, openTokenizer, tokenOf } from "./tokenizer.js";

const MOST_CHARACTERS = 20_000; // of a text; longer ones are refused before they are split
const CACHE = 24e6; // bytes of the last answers

// config: config.json. files: { model, tokenizer, kernel }: model.safetensors and tokenizer.model
// as array buffers; kernel: the compiled kernel.wasm (WebAssembly.Module), or null where the
// browser has no SIMD. groups: tokens -> the positions of each word, as `word_groups` of
// transformer/words.py.
export function openCheckpoint({ config, files, groups = everyToken }) {
  if (config.tokenizer !== "sentencepiece") {
    const of = `a tokenizer of the kind ${config.tokenizer}`;
    throw new Error(`Without a server no model with ${of} is read: open it in the app.`);
  }
  const tokenizer = openTokenizer(new Uint8Array(files.tokenizer));
  const model = openModel(config.model, files.model, files.kernel);
  const token = (id) => tokenOf(tokenizer, id);
  const cache = { most: CACHE, bytes: 0, entries: new Map() };
  return { config, tokenizer, token, model, groups, cache };
}

const everyToken = (tokens) => tokens.map((_, position) => [position]);

// asked: { text, method, options, changes, prefix }; all but the text may be left out. method:
// "beam" or "greedy"; options: { beam_size, length_penalty, max_len, ... }; changes: spelled as in
// addresses, ["head-off:cross.2.3"]; prefix: ids that the target begins with. Returns {
//   sourceIds, targetIds, readIds: what the encoder reads, what is written, what the decoder reads;
//   source, target, read: the same as tokens, see tokenOf;
//   words, targetWords: the positions of each word of source and target;
//   text: what is written; isEnded: whether by the model's will;
//   logProbs [T]: of each written token, in nats; logProb: their sum;
//   steps [T]: see stepsOf; tree: see treeOf;
//   hypotheses: { ids, score, logProb, leaf }, best first;
//   weights(kind, layer): a Float32Array [H, Q, K];
//   allowed(kind, layer): a Uint8Array [1 or H, Q, K], 1: the cell may be looked at, the same array
//   for the same mask; null: all may;
//   token(id): see tokenOf; changes: as asked; asked: { method, options, prefix } }
export function answer(open, asked) {
  const { text, method = "beam", options = {}, changes = [], prefix = [] } = asked;
  const key = JSON.stringify([text, method, options, changes, prefix]);
  return kept(open.cache, key, () => answered(open, { text, method, options, changes, prefix }));
}

function answered(open, { text, method, options, changes, prefix }) {
  const { config, model, token } = open;
  const sourceIds = sourceOf(open, text);
  const source = sourceIds.map(token);
  const words = open.groups(source);
  start(model, sourceIds, changes, words);
  const usual = { ...config.decoding?.[method], ...options };
  const { hypotheses, tree } = decode(model, sourceIds, method, usual, prefix);
  const targetIds = hypotheses[0].ids;
  const readIds = [config.model.bos_id, ...targetIds.slice(0, -1)];
  const target = targetIds.map(token);
  const steps = stepsOf(hypotheses[0]);
  const maps = record(model, sourceIds, targetIds, changes, words);
  const { heads, closed } = model.changes;
  const { n_heads } = config.model;
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
    words,
    targetWords: open.groups(target),
    text: textOf(open, targetIds),
    isEnded: targetIds.at(-1) === config.model.eos_id,
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

// The ids of a text, with the end that the model was trained with.
export function sourceOf({ config, tokenizer }, text) {
  if (!text.trim()) throw new Error("The text is empty: type a sentence.");
  if ([...text].length > MOST_CHARACTERS) {
    const most = MOST_CHARACTERS.toLocaleString("en");
    throw new Error(`The text is longer than ${most} characters: shorten it.`);
  }
  const { eos_id, max_len } = config.model;
  const ids = [...encode(tokenizer, text), eos_id];
  if (ids.length < 2) {
    throw new Error("This text holds nothing that the model can read: type a sentence.");
  }
  if (ids.length > max_len) {
    throw new Error(`The text has ${ids.length} tokens; at most ${max_len} are read. Shorten it.`);
  }
  return ids;
}

// The text that ids spell.
export function textOf({ tokenizer }, ids) {
  return decodeText(tokenizer, ids);
}
