// Asks the browser's engine in Node. Standard input: { engine, checkpoint: folders, isPlain, cases
// }; a case: { call, ... }, and groups: ids, joined -> the positions of each word. Standard output:
// what each call gives, as JSON; arrays of numbers are base64 of f32.

import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import process from "node:process";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const { engine, checkpoint, isPlain, cases } = JSON.parse(await text(process.stdin));
const module = (name) => import(pathToFileURL(`${engine}/${name}.js`));
const { answer, openCheckpoint, sourceOf, textOf } = await module("answer");
const { searchingChange } = await module("change");
const { layersOf } = await module("config");
const { evidenceOf } = await module("evidence");
const { callOf } = await module("inside");

const buffer = (file) => {
  const bytes = readFileSync(file);
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
};
const base64 = (array) =>
  array && Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");

const idsOf = (tokens) => tokens.map(({ id }) => id).join();

let groups = {};
const seen = new Set();
let open = null;

function opened() {
  const kernel = isPlain ? null : new WebAssembly.Module(readFileSync(`${engine}/kernel.wasm`));
  const config = JSON.parse(readFileSync(`${checkpoint}/config.json`, "utf-8"));
  const vocabulary = { sentencepiece: "tokenizer.model", characters: "characters.txt" };
  const file = vocabulary[config.tokenizer];
  return openCheckpoint({
    config,
    files: {
      model: buffer(`${checkpoint}/model.safetensors`),
      tokenizer: file && buffer(`${checkpoint}/${file}`),
      kernel,
    },
    groups: (tokens) => groups[idsOf(tokens)] ?? tokens.map((_, i) => [i]),
  });
}

function last(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const CALLS = {
  answer: (asked) => {
    const { weights, allowed, ...result } = answer(open, asked);
    const of = (values) => {
      const layers = (kind, n) => Array.from({ length: n }, (_, i) => base64(values(kind, i)));
      const kinds = Object.entries(layersOf(open.model.config));
      return Object.fromEntries(kinds.map(([kind, n]) => [kind, layers(kind, n)]));
    };
    return { ...result, weights: of(weights), allowed: of(allowed) };
  },
  ids: (asked) => sourceOf(open, asked.text),
  text: ({ ids }) => textOf(open, ids),
  tokens: ({ ids }) => ids.map(open.token),
  call: ({ kind, layer, ...asked }) => {
    const { scale, ...parts } = callOf(open, answer(open, asked), kind, layer);
    const packed = Object.entries(parts).map(([name, part]) => [name, base64(part)]);
    return { scale, ...Object.fromEntries(packed) };
  },
  // Whether nothing of a checkpoint stays when another one is opened.
  isForgotten: async (asked) => {
    answer(open, asked);
    const memory = new WeakRef(open.model.floats.buffer);
    open = opened();
    await new Promise((done) => setTimeout(done)); // what was looked at stays until then
    setFlagsFromString("--expose-gc");
    runInNewContext("gc")();
    return memory.deref() === undefined;
  },
  // 1 for each text whose answer was not there yet. most: bytes of answers that are kept.
  kept: ({ texts, most = open.cache.most, ...asked }) => {
    open.cache.most = most;
    const all = texts.map((each) => answer(open, { ...asked, text: each }));
    return all.map((each) => Number(!seen.has(each) && Boolean(seen.add(each))));
  },
  // texts: ids of a word, joined -> how it reads.
  evidence: ({ lists, texts, ...asked }) =>
    last(evidenceOf(open, answer(open, asked), lists, (tokens) => texts[idsOf(tokens)])),
  change: ({ carriers, patterns, texts, ...asked }) => {
    const textOfWord = (tokens) => texts[idsOf(tokens)];
    // The words of a simple text; where signs stand by themselves makes no difference here.
    const textWords = (all) => all.match(/[\p{L}\p{N}]+(?:['’.,-][\p{L}\p{N}]+)*/gu) ?? [];
    const words = { carriers, patterns, textWords, textOfWord };
    return last(searchingChange(open, answer(open, asked), words));
  },
};

async function resultOf({ call, groups: own = {}, ...asked }) {
  groups = own;
  try {
    open ??= opened();
    return await CALLS[call](asked);
  } catch (error) {
    return { error: error.message };
  }
}

const results = [];
for (const each of cases) results.push(await resultOf(each));
process.stdout.write(JSON.stringify(results));
