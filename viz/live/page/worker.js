// The worker: it fetches a checkpoint, opens it, and answers texts with the bytes that components draw.

import { answer, openCheckpoint, textOf } from "../engine/answer.js";
import { searchingChange } from "../engine/change.js";
import { evidenceOf } from "../engine/evidence.js";
import { sweepOf } from "../engine/sweep.js";
import { callOf } from "../engine/inside.js";
import { layersOf } from "../engine/config.js";
import { NotTaken } from "../arrays/file.js";
import { openArrays } from "../arrays/open.js";
import { cellSteps } from "../payloads/cell_steps.js";
import { changeOffer } from "../payloads/change_offer.js";
import { comparison, difference } from "../payloads/compare.js";
import { openMap } from "../payloads/maps.js";
import { openTables, PAYLOADS } from "../payloads/open.js";
import { number, percent } from "../payloads/numbers.js";
import { digest } from "../payloads/pack.js";
import { sweepRows, sweepTable } from "../payloads/sweep.js";
import { wordCards } from "../payloads/word_card.js";
import { decodedText, fetched, NoFile } from "./source.js";

const TOLD_EVERY = 100; // ms between two messages of how far the files are
const GROWN_EVERY = 300; // ms between two values of a study that grows
const PICTURES = {
  ...PAYLOADS,
  cell_steps: (site, result, of, open) =>
    cellSteps(site, result, callOf(open, result, of.kind, of.layer), of),
  word_card: (site, result, of, { known }) => wordCards(site, result, known.get(result), of),
};
// Of A and B of Compare, which each are { site, answer }.
const OF_BOTH = { comparison, difference };
const STUDIES = { change: changeOf, evidence: evidenceOfAnswer, sweep: sweepOfAnswer };

// What is asked is answered one by one: the page asks for the newest text once this has answered.
export default function serve(self) {
  serveWith(self, STUDIES);
}

// studies: name -> (open, answer, of) => steps, of: what more is asked.
export function serveWith(self, studies) {
  const models = { open: null, second: null, files: new Map() }; // files: of arrays, by their names
  let latest = 0; // number of messages: a study gives way to any other
  self.onmessage = async ({ data }) => {
    const { what, n } = data;
    const [begun, own] = [performance.now(), ++latest];
    try {
      if (what === "open") self.postMessage(await openModel(models, data, self));
      else if (what === "arrays") self.postMessage(await openFile(models, data));
      else if (what === "close") models.second = null;
      else if (what === "stop") return; // a study that is at work is dropped
      else if (!models.open && !data.file) throw new Error("No model is open.");
      else if (what === "study") await study(studies, models.open, data, () => own === latest, self);
      else self.postMessage(...replyTo(models, data, begun));
    } catch (error) {
      const isOurs = error instanceof NoFile || error instanceof NotTaken || !["open", "arrays"].includes(what);
      const sentence = isOurs ? error.message : `${data.name} cannot be opened: ${error.message}`;
      self.postMessage({ what: "failed", n, of: what, name: data.name, place: data.place, sentence });
    }
  };
}

// place: "open", or "second" for the one beside it that Compare has. files: name -> parts of it, or its
// text in base64; kernel: without it JavaScript multiplies.
async function openModel(models, { place = "open", name, files, base, config, tables }, self) {
  let [have, last] = [0, 0];
  const tell = (bytes) => {
    have += bytes;
    if (performance.now() - last < TOLD_EVERY) return;
    last = performance.now();
    self.postMessage({ what: "progress", place, name, have });
  };
  const read = async (file) =>
    typeof file === "string" ? decodedText(file) : fetched(file, base, tell);
  const names = [files.model, files.kernel, ...(files.tokenizer ? [files.tokenizer] : [])];
  const [model, kernel, tokenizer] = await Promise.all(names.map(read));
  models[place] = null; // one more at once would be more memory
  const site = openTables(tables);
  const given = { model: model.buffer, tokenizer: tokenizer?.buffer, kernel: compiled(kernel) };
  const groups = (tokens) => site.words.groups(tokens);
  const open = openCheckpoint({ config, files: given, groups });
  model.buffer.transfer?.(0); // it has been read: its memory is free at once
  // known: answer -> its evidence; sweeps: answer -> its sweep, as far as it is.
  models[place] = { ...open, site, name, known: new WeakMap(), sweeps: new WeakMap() };
  return { what: "opened", place, name };
}

// A file that a reader brought: it is kept here, and nobody else has it.
async function openFile({ files }, { name, file, tables, own }) {
  const { facts, ...open } = await openArrays(file, tables, own);
  files.set(name, { ...open, known: new WeakMap() });
  return { what: "brought", facts };
}

function compiled(kernel) {
  try {
    return new WebAssembly.Module(kernel);
  } catch {
    return null; // a browser without it, or without its SIMD: three times as slow
  }
}

function replyTo(models, { what, n, file, text, method, options, edits, prefix, b, pictures }, begun) {
  const open = file ? models.files.get(file) : models.open;
  const result = open.answer ?? answer(open, { text, method, options, changes: edits, prefix });
  if (what === "say") return [{ what: "said", n, answer: numbersOf(open, result) }];
  const payloads = {};
  const first = { site: open.site, answer: result };
  const second = b && besideOf(models, result, { text, method, prefix }, b);
  for (const [name, of] of Object.entries(pictures)) {
    if (name === "word_card" && !open.known.has(result)) continue; // the answer was made anew since
    const [component, which] = name.split(" "); // such as "head_view b"
    if ((which === "b" || OF_BOTH[which ?? component]) && !second?.answer) continue;
    const { site, answer: own } = which === "b" ? second : first;
    const payload = OF_BOTH[which ?? component]
      ? OF_BOTH[which ?? component](first, second, of)
      : PICTURES[component](site, own, of, open);
    if (payload) payloads[name] = { payload, nonce: digest(payload) };
  }
  const facts = { ...factsOf(open, result), b: second && { words: second.words, problem: second.problem } };
  const ms = performance.now() - begun;
  const message = { what: "answered", n, payloads, output: result.text, facts, ms };
  return [message, Object.values(payloads).map(({ payload }) => payload.buffer)];
}

// B of Compare, as viz/pages/compare/second.py finds it: { site, answer, words, problem }; words: what it
// writes by itself; problem: why it is not there. of: { checkpoint, method, edits, isOwn }.
function besideOf({ open, second }, result, { text, method, prefix }, of) {
  const model = of.checkpoint ? second : open;
  if (of.checkpoint && model?.name !== of.checkpoint) return null; // it is not here yet
  const { site } = model;
  const asked = of.checkpoint
    ? { text, method: of.method ?? method }
    : { text, method: of.method ?? method, changes: of.edits, prefix: of.method ? [] : prefix };
  try {
    const own = answer(model, asked);
    const isForced = of.checkpoint ? readsAlike(open, model, result) : !of.isOwn && !of.method;
    const target = isForced && result.targetIds.length ? result.targetIds : null;
    const read = target ? answer(model, { ...asked, target }) : own;
    return { site, answer: read, words: written(site, own) };
  } catch ({ message }) {
    return { problem: message };
  }
}

// Whether both split the text and the output into the same tokens.
function readsAlike(open, second, { source, target }) {
  if (open.model.config.family !== second.model.config.family) return false;
  const isSame = (token) => {
    const other = token.id < second.model.config.vocab_size && second.token(token.id);
    return other.piece === token.piece && other.special === token.special;
  };
  return [...source, ...target].every(isSame);
}

// What is computed while nobody waits. The runs of a study are one by one, and between them whoever
// asks for anything else is heard: then it is dropped, and asked for anew.
async function study(studies, open, { n, study: name, request, of = request.of }, isLatest, self) {
  const { text, method, options, edits, prefix } = request;
  const asked = { text, method, options, changes: edits, prefix };
  const steps = studies[name](open, answer(open, asked), of);
  for (let told = performance.now(); ; ) {
    await new Promise((go) => setTimeout(go));
    if (!isLatest()) return self.postMessage({ what: "dropped", n });
    const { done, value } = steps.next();
    if (done) return self.postMessage({ what: "studied", n, value });
    if (!value.growing || performance.now() - told < GROWN_EVERY) continue;
    self.postMessage({ what: "growing", n, value: value.growing() });
    told = performance.now();
  }
}

// Every head off: it stays here as far as it is, and goes on there.
function* sweepOfAnswer({ site, sweeps, ...open }, result, of) {
  const valueOf = (sweep) => ({
    payload: sweepTable(site, result, sweep, of),
    rows: sweepRows(site, result, sweep),
    progress: { done: sweep.written.size, all: sweep.heads.length },
  });
  const before = sweeps.get(result) ?? null;
  const steps = sweepOf(open, result, (tokens) => site.words.bare(tokens), before);
  for (;;) {
    const { done, value } = steps.next();
    sweeps.set(result, value);
    if (done) return valueOf(value);
    yield { growing: () => valueOf(value) };
  }
}

// What each written word needs: it stays here, for `word_card` to be made of it.
function* evidenceOfAnswer({ site, known, ...open }, result) {
  const bare = (tokens) => site.words.bare(tokens);
  known.set(result, yield* evidenceOf(open, result, site.lost, bare));
  return true;
}

// The payload of the button that changes what is written.
function* changeOf({ site, ...open }, result) {
  const { words, change_offer: { carriers, patterns } } = site;
  const textWords = (text) => words.ofText(text);
  const textOfWord = (tokens) => words.bare(tokens);
  const given = { carriers, patterns, textWords, textOfWord };
  return changeOffer(site, yield* searchingChange(open, result, given), result.text);
}

// What a script is told: `window.headscope.answer` of page.js.
function numbersOf({ model, site }, result) {
  const { n_heads: h } = model.config;
  const [s, t] = [result.sourceIds.length, result.readIds.length];
  const maps = Object.entries(layersOf(model.config)).map(([kind, n]) => {
    return [kind, Array.from({ length: n }, (_, layer) => result.weights(kind, layer))];
  });
  const piecesOf = (tokens) => tokens.map(({ piece }) => piece);
  return {
    source_ids: result.sourceIds,
    target_ids: result.targetIds,
    pieces: { source: piecesOf(result.source), target: piecesOf(result.target) },
    text: result.text,
    classes: result.classes,
    log_probs: result.logProbs,
    words: written(site, result),
    maps: Object.fromEntries(maps),
    shapes: { encoder_self: [h, s, s], decoder_self: [h, t, t], cross: [h, t, s] },
  };
}

// The words that are written; of a classifier the class and its probability.
function written({ words, numbers }, { target, targetWords, classes, text }) {
  if (classes) return [text, percent(numbers, classes.find(({ name }) => name === text).prob)];
  const shown = targetWords.filter(([first]) => !target[first].special);
  return shown.map((group) => words.text(group.map((i) => target[i])));
}

// What the page itself needs of an answer: words, the groups of each map, and the search.
function factsOf({ site, ...open }, result) {
  const { source, target, read, words, tree, hypotheses, classes } = result;
  const labels = (tokens) => tokens.map((token) => site.words.bareLabel(token));
  const kinds = Object.keys(site.kinds);
  const groups = kinds.map((kind) => {
    const map = openMap(site, result, kind, { words: true, special: "shown" });
    return [kind, { rows: map.rowGroups, columns: map.columnGroups }];
  });
  const wordAt = source.map((_, i) => words.findIndex((group) => group.includes(i)));
  return {
    logProb: result.logProb,
    nWritten: target.length,
    nRead: source.length,
    isEnded: result.isEnded,
    words: written(site, result),
    begins: result.asked.prefix.length ? textOf(open, result.asked.prefix, result.sourceIds).trim() : "",
    classes: classes?.map((each) => ({
      name: each.name,
      prob: each.prob,
      share: percent(site.numbers, each.prob),
      logit: number(each.logit),
      isBest: each.name === result.text,
    })),
    wordAt,
    read: words.map((group) => site.words.text(group.map((i) => source[i]))),
    groups: Object.fromEntries(groups),
    queries: { encoder_self: labels(source), decoder_self: labels(read), cross: labels(target) },
    keys: { encoder_self: labels(source), decoder_self: labels(read), cross: labels(source) },
    nodes: tree.nodes.map(({ parent, token }) => [parent, token]),
    best: tree.nodes.length ? pathTo(tree, hypotheses[0].leaf) : [],
  };
}

// The nodes from the root to a leaf.
function pathTo({ nodes }, leaf) {
  const path = [];
  for (let at = leaf; at !== null && at !== undefined && at >= 0; at = nodes[at].parent) path.unshift(at);
  return path;
}
