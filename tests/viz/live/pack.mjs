// Packs payloads in Node. Standard input: { live: the folder of viz/live, tables, checkpoint: a
// folder, cases }; a case: { pictures: name -> what is asked of it }, and either `asked`, which the
// engine answers, or `given`, an answer whose arrays are base64. Standard output: of each case
// { target: ids, payloads: name -> base64 }, or { error }. A case may be { tokens } instead, for
// what the rule of words and labels say of them, or { change }, for the button that offers it.

import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import process from "node:process";
import { text as whole } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { live, tables, checkpoint, cases } = JSON.parse(await whole(process.stdin));
const module = (name) => import(pathToFileURL(`${live}/${name}.js`));
const { wordCards } = await module("payloads/word_card");
const { cellSteps } = await module("payloads/cell_steps");
const { changeOffer } = await module("payloads/change_offer");
const { openTables, PAYLOADS: PACKED } = await module("payloads/open");
const { answer, openCheckpoint } = await module("engine/answer");
const { callOf } = await module("engine/inside");
const { evidenceOf } = await module("engine/evidence");
const { sweepOf } = await module("engine/sweep");
const { sweepRows, sweepTable } = await module("payloads/sweep");
const { comparison, difference } = await module("payloads/compare");

const PAYLOADS = {
  ...PACKED,
  cell_steps: (_, each, of) => {
    const call = each.call ? each.call : callOf(engine, each, of.kind, of.layer);
    return cellSteps(site, each, call, of);
  },
  word_card: (_, each, of) => wordCards(site, each, each.evidence ?? evidence(each), of),
  sweep: (_, each, of) => sweepTable(site, each, swept(each), of),
  comparison: (_, each, of) => comparison({ site, answer: each }, beside(each, of.b), of),
  difference: (_, each, of) => difference({ site, answer: each }, beside(each, of.b), of),
  sweep_rows: (_, each) => Buffer.from(sweepRows(site, each, swept(each))),
};
const base64 = (bytes) => Buffer.from(bytes).toString("base64");
const site = openTables(tables);
const engine = cases.some(({ asked }) => asked) ? opened(checkpoint, site) : null;

function opened(folder, { words }) {
  const buffer = (name) => new Uint8Array(readFileSync(`${folder}/${name}`)).buffer;
  const config = JSON.parse(readFileSync(`${folder}/config.json`, "utf-8"));
  const vocabulary = { sentencepiece: "tokenizer.model", characters: "characters.txt" };
  const file = vocabulary[config.tokenizer];
  return openCheckpoint({
    config,
    files: {
      model: buffer("model.safetensors"),
      tokenizer: file && buffer(file),
      kernel: new WebAssembly.Module(readFileSync(`${live}/engine/kernel.wasm`)),
    },
    groups: (tokens) => words.groups(tokens),
  });
}

// B of Compare. asked: as `answer` takes it; isForced: it reads what A wrote; second: { folder, tables }
// of another checkpoint.
function beside(each, { asked, isForced, second }) {
  const own = second ? openTables(second.tables) : site;
  const open = second ? opened(second.folder, own) : engine;
  return { site: own, answer: answer(open, { ...asked, target: isForced ? each.targetIds : null }) };
}

const textOf = (tokens) => site.words.bare(tokens);
const evidence = (each) => last(evidenceOf(engine, each, site.lost, textOf));
const sweeps = new Map();

// Every head off: once for each answer.
function swept(each) {
  if (!sweeps.has(each)) sweeps.set(each, each.sweep ?? last(sweepOf(engine, each, textOf)));
  return sweeps.get(each);
}

function last(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

// An answer of Python's numbers, as the engine would give it.
function answerOf({ weights, allowed, tokens, call, ...others }) {
  const bytes = (text) => new Uint8Array(Buffer.from(text, "base64"));
  const every = (of, each) => {
    return Object.fromEntries(Object.entries(of).map(([kind, all]) => [kind, all.map(each)]));
  };
  const numbers = every(weights, (text) => new Float32Array(bytes(text).buffer));
  const cells = every(allowed, (text) => text && bytes(text));
  const floats = (text) => new Float32Array(bytes(text).buffer);
  const { scale, ...parts } = call;
  const vectors = Object.entries(parts).map(([name, text]) => [name, floats(text)]);
  return {
    ...others,
    call: { scale, ...Object.fromEntries(vectors) },
    weights: (kind, layer) => numbers[kind][layer],
    allowed: (kind, layer) => cells[kind][layer],
    token: (id) => tokens[id],
  };
}

// What is said of tokens by themselves, as Python's functions of these names do.
function spelled({ words }, tokens) {
  return {
    word_groups: words.groups(tokens),
    pieces: words.pieces(tokens),
    pieces_of_words: [true, false].map((asWords) => words.piecesOfWords(tokens, asWords)),
    word_text: words.groups(tokens).map((group) => words.text(group.map((i) => tokens[i]))),
    word_so_far: tokens.map((token, i) => words.soFar(tokens.slice(0, i), token)),
    is_part: tokens.map((token) => words.isPart(token)),
    visible: tokens.map(({ piece }) => words.visible(piece)),
    text_words: words.ofText(tokens.map(({ piece }) => piece).join("")),
  };
}

const results = cases.map(({ asked, given, pictures, tokens, change }) => {
  try {
    if (tokens) return spelled(site, tokens);
    if (change) return base64(changeOffer(site, { change }, "an answer"));
    const each = given ? answerOf(given) : answer(engine, asked);
    const payloads = Object.entries(pictures).map(([name, of]) => {
      return [name, base64(PAYLOADS[name.split(" ")[0]](site, each, of))];
    });
    return { target: each.target.map(({ id }) => id), payloads: Object.fromEntries(payloads) };
  } catch (error) {
    return { error: error.stack };
  }
});
process.stdout.write(JSON.stringify(results));
