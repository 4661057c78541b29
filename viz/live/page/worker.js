// The worker: it fetches a checkpoint, opens it, and answers texts with the bytes that components draw.

import { answer, openCheckpoint } from "../engine/answer.js";
import { decodePlayer } from "../payloads/decode_player.js";
import { headGrid, headMap, headView } from "../payloads/heads.js";
import { openMap } from "../payloads/maps.js";
import { openTables } from "../payloads/open.js";
import { digest } from "../payloads/pack.js";
import { tokenRows } from "../payloads/token_rows.js";
import { decodedText, fetched, NoFile } from "./source.js";

const TOLD_EVERY = 100; // ms between two messages of how far the files are
const PICTURES = {
  token_rows: tokenRows,
  head_grid: headGrid,
  head_view: headView,
  head_map: headMap,
  decode_player: decodePlayer,
};

// What is asked is answered one by one: the page asks for the newest text once this has answered.
export default function serve(self) {
  const models = { open: null };
  self.onmessage = async ({ data }) => {
    const { what, n } = data;
    const begun = performance.now();
    try {
      if (what === "open") self.postMessage({ what: "opened", ...(await openModel(models, data, self)) });
      else if (!models.open) throw new Error("No model is open.");
      else self.postMessage(...replyTo(models.open, data, begun));
    } catch (error) {
      const sentence = error instanceof NoFile || what !== "open" ? error.message : `The model cannot be opened: ${error.message}`;
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
  const read = async (file) => (typeof file === "string" ? decodedText(file) : fetched(file, base, tell));
  const [model, tokenizer, kernel] = await Promise.all([read(files.model), read(files.tokenizer), read(files.kernel)]);
  const begun = performance.now();
  models.open = null; // two models at once would be twice the memory
  const site = openTables(tables);
  const given = { model: model.buffer, tokenizer: tokenizer.buffer, kernel: compiled(kernel) };
  const open = openCheckpoint({ config, files: given, groups: (tokens) => site.words.groups(tokens) });
  models.open = { ...open, site };
  return { name, ms: performance.now() - begun };
}

function compiled(kernel) {
  try {
    return new WebAssembly.Module(kernel);
  } catch {
    return null; // a browser without it, or without its SIMD: three times as slow
  }
}

function replyTo(open, { what, n, text, method, edits, prefix, pictures }, begun) {
  const result = answer(open, { text, method, changes: edits, prefix });
  if (what === "say") return [{ what: "said", n, answer: { ...numbersOf(open, result), words: wordsOf(open, result) } }];
  const payloads = {};
  for (const [name, of] of Object.entries(pictures)) {
    const payload = PICTURES[name](open.site, result, of);
    payloads[name] = { payload, nonce: digest(payload) };
  }
  const facts = { what: "answered", n, payloads, output: result.text, target: targetOf(open, result), ms: performance.now() - begun };
  return [facts, Object.values(payloads).map(({ payload }) => payload.buffer)];
}

// What a script is told: `window.headscope.answer` of page.js.
function numbersOf({ config }, result) {
  const kinds = ["encoder_self", "decoder_self", "cross"];
  const layers = (kind) => Array.from({ length: config.model[kind === "encoder_self" ? "n_encoder_layers" : "n_decoder_layers"] }, (_, layer) => layer);
  const [s, t] = [result.sourceIds.length, result.targetIds.length];
  return {
    source_ids: result.sourceIds,
    target_ids: result.targetIds,
    pieces: { source: result.source.map(({ piece }) => piece), target: result.target.map(({ piece }) => piece) },
    text: result.text,
    log_probs: result.logProbs,
    maps: Object.fromEntries(kinds.map((kind) => [kind, layers(kind).map((layer) => result.weights(kind, layer))])),
    shapes: { encoder_self: [config.model.n_heads, s, s], decoder_self: [config.model.n_heads, t, t], cross: [config.model.n_heads, t, s] },
  };
}

function wordsOf({ site }, { target, targetWords }) {
  const shown = targetWords.filter(([first]) => !target[first].special);
  return shown.map((group) => site.words.text(group.map((i) => target[i])));
}

// What the page itself needs of an answer: words, the groups of each map, and the search.
function targetOf(open, result) {
  const { site } = open;
  const groups = {};
  const [queries, keys] = [{}, {}];
  for (const kind of Object.keys(site.kinds)) {
    const { rowGroups, columnGroups } = openMap(site, result, kind, { words: true, special: "shown" });
    groups[kind] = { rows: rowGroups, columns: columnGroups };
    const of = kind === "encoder_self" ? result.source : kind === "cross" ? result.source : result.read;
    queries[kind] = (kind === "encoder_self" ? result.source : result.target).map((token) => site.words.bareLabel(token));
    keys[kind] = of.map((token) => site.words.bareLabel(token));
  }
  return {
    words: wordsOf(open, result),
    sourceWords: result.words.map((group) => site.words.text(group.map((i) => result.source[i]))),
    groups,
    queries,
    keys,
    nodes: result.tree.nodes.map(({ parent, token }) => [parent, token]),
    best: pathTo(result.tree, result.hypotheses[0].leaf),
  };
}

// The nodes from the root to a leaf.
function pathTo({ nodes }, leaf) {
  const path = [];
  for (let at = leaf; at !== null && at !== undefined && at >= 0; at = nodes[at].parent) path.unshift(at);
  return path;
}
