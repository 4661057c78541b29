// The worker: it fetches a checkpoint, opens it, and answers texts with the bytes that components draw.

import { answer, openCheckpoint, textOf } from "../engine/answer.js";
import { searchingChange } from "../engine/change.js";
import { evidenceOf } from "../engine/evidence.js";
import { callOf } from "../engine/inside.js";
import { layersOf } from "../engine/config.js";
import { cellSteps } from "../payloads/cell_steps.js";
import { changeOffer } from "../payloads/change_offer.js";
import { openMap } from "../payloads/maps.js";
import { openTables, PAYLOADS } from "../payloads/open.js";
import { number, percent } from "../payloads/numbers.js";
import { digest } from "../payloads/pack.js";
import { wordCards } from "../payloads/word_card.js";
import { decodedText, fetched, NoFile } from "./source.js";

const TOLD_EVERY = 100; // ms between two messages of how far the files are
const PICTURES = {
  ...PAYLOADS,
  cell_steps: (site, result, of, open) =>
    cellSteps(site, result, callOf(open, result, of.kind, of.layer), of),
  word_card: (site, result, of, { known }) => wordCards(site, result, known.get(result), of),
};
const STUDIES = { change: changeOf, evidence: evidenceOfAnswer };

// What is asked is answered one by one: the page asks for the newest text once this has answered.
export default function serve(self) {
  const models = { open: null };
  let latest = 0; // number of messages: a study gives way to any other
  self.onmessage = async ({ data }) => {
    const { what, n } = data;
    const [begun, own] = [performance.now(), ++latest];
    try {
      if (what === "open") self.postMessage(await openModel(models, data, self));
      else if (!models.open) throw new Error("No model is open.");
      else if (what === "study") self.postMessage(await studied(models.open, data, () => own === latest));
      else self.postMessage(...replyTo(models.open, data, begun));
    } catch (error) {
      const isOurs = error instanceof NoFile || what !== "open";
      const sentence = isOurs ? error.message : `${data.name} cannot be opened: ${error.message}`;
      self.postMessage({ what: "failed", n, of: what, name: data.name, sentence });
    }
  };
}

// files: name -> parts of it, or its text in base64; kernel: without it JavaScript multiplies.
async function openModel(models, { name, files, base, config, tables }, self) {
  let [have, last] = [0, 0];
  const tell = (bytes) => {
    have += bytes;
    if (performance.now() - last < TOLD_EVERY) return;
    last = performance.now();
    self.postMessage({ what: "progress", name, have });
  };
  const read = async (file) =>
    typeof file === "string" ? decodedText(file) : fetched(file, base, tell);
  const names = [files.model, files.kernel, ...(files.tokenizer ? [files.tokenizer] : [])];
  const [model, kernel, tokenizer] = await Promise.all(names.map(read));
  models.open = null; // two models at once would be twice the memory
  const site = openTables(tables);
  const given = { model: model.buffer, tokenizer: tokenizer?.buffer, kernel: compiled(kernel) };
  const groups = (tokens) => site.words.groups(tokens);
  const open = openCheckpoint({ config, files: given, groups });
  model.buffer.transfer?.(0); // it has been read: its memory is free at once
  models.open = { ...open, site, known: new WeakMap() }; // known: answer -> its evidence
  return { what: "opened", name };
}

function compiled(kernel) {
  try {
    return new WebAssembly.Module(kernel);
  } catch {
    return null; // a browser without it, or without its SIMD: three times as slow
  }
}

function replyTo(open, { what, n, text, method, options, edits, prefix, pictures }, begun) {
  const result = answer(open, { text, method, options, changes: edits, prefix });
  if (what === "say") return [{ what: "said", n, answer: numbersOf(open, result) }];
  const payloads = {};
  for (const [name, of] of Object.entries(pictures)) {
    if (name === "word_card" && !open.known.has(result)) continue; // the answer was made anew since
    const payload = PICTURES[name](open.site, result, of, open);
    payloads[name] = { payload, nonce: digest(payload) };
  }
  const facts = factsOf(open, result);
  const ms = performance.now() - begun;
  const message = { what: "answered", n, payloads, output: result.text, facts, ms };
  return [message, Object.values(payloads).map(({ payload }) => payload.buffer)];
}

// What is computed while nobody waits. The runs of a study are one by one, and between them whoever
// asks for anything else is heard: then it is dropped, and asked for anew.
async function studied(open, { n, study, request }, isLatest) {
  const { text, method, options, edits, prefix } = request;
  const asked = { text, method, options, changes: edits, prefix };
  const steps = STUDIES[study](open, answer(open, asked));
  for (;;) {
    await new Promise((go) => setTimeout(go));
    if (!isLatest()) return { what: "dropped", n, study };
    const { done, value } = steps.next();
    if (done) return { what: "studied", n, study, value };
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
    begins: textOf(open, result.asked.prefix, result.sourceIds).trim(),
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
