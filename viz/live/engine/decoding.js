// Decoding: greedy and beam search, as transformer/decoding has them; their steps and their tree.

import { best, logProbabilities, read, ROWS } from "./model.js";
import { add, drop, isNoted, openTrail, treeOf } from "./search_tree.js";

const N_CANDIDATES = 10; // of a step
const N_BESIDE = 3; // tokens that a search of one hypothesis notes beside its own

const MAX_LEN = [Infinity, 1, Infinity]; // tokens, of every method

// name -> its options with their defaults, [default, least, most]; and what runs it. A
// checkpoint may have other defaults ("decoding" of config.json).
export const METHODS = {
  greedy: { options: { max_len: MAX_LEN }, run: greedy },
  beam: {
    options: {
      max_len: MAX_LEN,
      beam_size: [4, 1, ROWS],
      length_penalty: [0.6, -100, 100],
      repeats: [0, 0, 0],
      early_stopping: [0, 0, 2],
      plain_length: [0, 0, 1],
    },
    run: beam,
  },
};

// Writes a target for the source that the model has read (`start`). options: of the method, and
// max_len, in tokens. prefix: ids that it begins with. Returns { hypotheses, tree }: hypotheses,
// best first, as { ids, rows, score, logProb, leaf }, rows being the log-probabilities [V] that
// each token was chosen from.
export function decode(model, source, method, options = {}, prefix = []) {
  if (!METHODS[method]) {
    const names = Object.keys(METHODS).join(" and ");
    throw new Error(`Without a server there is no method ${method}: choose ${names}.`);
  }
  const { config } = model;
  const given = checked(METHODS[method].options, options);
  const limit = Math.min(room(config, source.length), given.max_len);
  checkPrefix(config, prefix, limit);
  const trail = openTrail();
  const first = begun(model, trail, prefix);
  const isWhole = prefix.length > 0 && prefix.at(-1) === config.eos_id; // the prefix is all
  const search = { model, source, trail, limit, ...given };
  const hypotheses = METHODS[method].run(search, first, isWhole);
  return { hypotheses, tree: treeOf(trail, hypotheses.map(({ leaf }) => leaf)) };
}

// Tokens that may be written after a source of n tokens; after a prompt, of which the last one is
// never read.
function room({ family, eos_id, max_len }, n) {
  if (family === "decoder_only") return max_len - n + 1;
  return eos_id === null ? n : Math.min(max_len, 2 * n + 10);
}

function checked(known, values) {
  const result = Object.fromEntries(Object.entries(known).map(([name, [usual]]) => [name, usual]));
  for (const [name, value] of Object.entries(values)) {
    const [usual, least, most] = known[name] ?? [0, Infinity, -Infinity];
    const isWhole = Number.isInteger(value) || !Number.isInteger(usual);
    if (!(value >= least && value <= most && isWhole)) {
      throw new Error(`Without a server ${name} cannot be ${value}: open it in the app.`);
    }
    result[name] = value;
  }
  return result;
}

function checkPrefix({ eos_id, vocab_size }, prefix, limit) {
  const strange = prefix.find((id) => !(Number.isInteger(id) && id >= 0 && id < vocab_size));
  if (strange !== undefined) {
    const those = `there is no ${strange}, and the last one is ${vocab_size - 1}`;
    throw new Error(`The model does not know all tokens of the beginning: ${those}.`);
  }
  if (prefix.slice(0, -1).includes(eos_id)) {
    throw new Error("The beginning goes on behind the end of a text: let it stop there.");
  }
  if (prefix.length >= limit + (prefix.length && prefix.at(-1) === eos_id ? 1 : 0)) {
    const at_most = `at most ${limit} are written`;
    throw new Error(`The beginning has ${prefix.length} tokens, and ${at_most}: shorten it.`);
  }
}

// The hypothesis that a search goes on from: the prefix, or nothing yet. `next` is the distribution
// [V] of what follows it; `past` has the slots of all that was read.
function begun(model, trail, prefix) {
  const { id: firstId, past: before } = model.first;
  const ids = [firstId, ...prefix];
  const past = [...before, ...read(model, ids, [before], true)];
  const all = logProbabilities(model, ids.length);
  let [node, total] = [0, 0];
  prefix.forEach((id, i) => {
    node = add(trail, node, id, all[i][id], { isForced: true });
    total += all[i][id];
  });
  return { ids: prefix, rows: all.slice(0, -1), past, total, node, next: all.at(-1) };
}

function hypothesisOf({ ids, rows, node }, score) {
  const logProb = ids.reduce((sum, id, i) => sum + rows[i][id], 0);
  return { ids, rows, score: score ?? logProb, logProb, leaf: node };
}

// Greedy: at each step the most probable token. Its score is its log-probability.

function greedy({ model, trail, limit }, first, isWhole) {
  const { eos_id } = model.config;
  let { node, next } = first;
  const [ids, rows, past] = [[...first.ids], [...first.rows], [...first.past]];
  while (!isWhole) {
    const [id, ...beside] = best(next, N_BESIDE + 1);
    const before = node;
    node = add(trail, before, id, next[id]);
    beside.forEach((other, i) => {
      const dropped = add(trail, before, other, next[other], { rank: i + 1 });
      drop(trail, dropped, "greedy", node);
    });
    ids.push(id);
    rows.push(next);
    if (id === eos_id || ids.length >= limit) break;
    past.push(...read(model, [id], [past]));
    [next] = logProbabilities(model, 1);
  }
  return [hypothesisOf({ ids, rows, node })];
}

// Beam search (Wu et al. 2016, section 7): the best few beginnings are continued at once.

function beam(search, first, isWhole) {
  const { model, limit, beam_size: size } = search;
  const { eos_id } = model.config;
  const scored = (branch) =>
    hypothesisOf(branch, branch.total / divisor(search, branch.ids.length));
  if (isWhole) return [scored(first)];
  let [open, finished, rows] = [[first], [], [first.next]];
  for (let length = first.ids.length + 1; ; length++) {
    const ranked = candidates(open, rows, 2 * size);
    const going = length === limit ? [] : ranked.filter(({ id }) => id !== eos_id).slice(0, size);
    const ends = ({ id }) => length === limit || id === eos_id;
    const ended = ranked.slice(0, size).filter(ends);
    const grown = noted(search, open, rows, ranked, going, ended);
    finished = ranking(search, finished, ended.map((each) => scored(grown.get(each))));
    open = going.map((each) => grown.get(each));
    if (!open.length || isSettled(search, open, finished, length)) break;
    const slots = read(model, open.map(({ ids }) => ids.at(-1)), open.map(({ past }) => past));
    open.forEach((branch, i) => (branch.past = [...branch.past, slots[i]]));
    rows = logProbabilities(model, open.length);
  }
  for (const { node } of open) drop(search.trail, node, "stopped", finished.at(-1)?.leaf ?? null);
  return finished;
}

// The length penalty of a text of so many tokens.
function divisor({ length_penalty, plain_length }, length) {
  return (plain_length ? length : (5 + length) / 6) ** length_penalty;
}

// The n best continuations of all, best first: { total, parent, id }. Totals are f32, as torch's
// are.
function candidates(open, rows, n) {
  const all = [];
  let least = -Infinity;
  open.forEach(({ total: before }, parent) => {
    const row = rows[parent];
    // What is below it cannot come to `least`; the margin is for rounding.
    let enough = least - before - 1e-3;
    for (let id = 0; id < row.length; id++) {
      if (row[id] < enough) continue;
      const total = Math.fround(row[id] + Math.fround(before));
      if (all.length === n && total <= least) continue;
      let at = all.length;
      while (at && all[at - 1].total < total) at--;
      all.splice(at, 0, { total, parent, id });
      if (all.length > n) all.pop();
      if (all.length === n) least = all[n - 1].total;
      enough = least - before - 1e-3;
    }
  });
  return all;
}

// Writes down what was looked at, and why it was left. Returns candidate -> branch of those that
// stay.
function noted({ trail, ...search }, open, rows, ranked, going, ended) {
  const note = (each, rank) => {
    const { node, ids } = open[each.parent];
    const price = divisor(search, ids.length + 1);
    const more = { total: each.total, divisor: price, rank };
    return add(trail, node, each.id, rows[each.parent][each.id], more);
  };
  const last = [...going, ...ended];
  const nodes = new Map(last.map((each) => [each, note(each, ranked.indexOf(each))]));
  const worst = last.reduce((a, b) => (isBelow(b, a) ? b : a));
  const by = nodes.get(worst);
  ranked.forEach((each, rank) => {
    if (nodes.has(each) || isNoted(trail, open[each.parent].node, each.id)) return;
    const node = note(each, rank);
    if (each.total <= worst.total) drop(trail, node, "beam", by);
    else drop(trail, node, "end"); // only the best of a step may end
  });
  const goneOn = new Set(last.map(({ parent }) => parent));
  open.forEach(({ node }, i) => {
    if (node && !goneOn.has(i)) drop(trail, node, "continuations", by);
  });
  const grown = (each) => grow(open[each.parent], rows[each.parent], each, nodes.get(each));
  return new Map(last.map((each) => [each, grown(each)]));
}

const isBelow = (a, b) => (a.total - b.total || a.parent - b.parent || a.id - b.id) < 0;

function grow({ ids, rows, past }, row, each, node) {
  return { ids: [...ids, each.id], rows: [...rows, row], past, total: each.total, node };
}

// The best of all that has ended, as many as the beam has; the others are dropped.
function ranking({ trail, beam_size: size }, finished, ended) {
  const all = [...finished, ...ended].sort((a, b) => b.score - a.score);
  for (const { leaf } of all.slice(size)) drop(trail, leaf, "finished", all[size - 1].leaf);
  return all.slice(0, size);
}

// Tells whether the best open hypothesis already loses to every finished one.
function isSettled(search, open, finished, length) {
  const { beam_size, early_stopping, length_penalty, limit } = search;
  if (finished.length < beam_size) return false;
  if (early_stopping === 1) return true;
  const at = early_stopping === 2 && length_penalty > 0 ? limit : length;
  const most = Math.max(...open.map(({ total }) => total));
  return finished.at(-1).score >= most / divisor(search, at);
}

// The steps of a hypothesis: { id, prob, logProb, rank, candidates: [{ id, prob }], rest, entropy
// }; rank 1 is the most probable token, rest the probability of all others together, entropy in
// bits.
export function stepsOf({ ids, rows }) {
  return ids.map((id, i) => {
    const row = rows[i];
    const ids_of_best = best(row, N_CANDIDATES);
    const beside = ids_of_best.map((each) => ({ id: each, prob: Math.exp(row[each]) }));
    const rest = Math.max(0, 1 - beside.reduce((sum, { prob }) => sum + prob, 0));
    let [entropy, rank] = [0, 1];
    for (const logProb of row) {
      if (logProb > -87) entropy -= Math.exp(logProb) * logProb; // else it adds less than 1e-35
      if (logProb > row[id]) rank++;
    }
    const chosen = { id, prob: Math.exp(row[id]), logProb: row[id], rank };
    return { ...chosen, candidates: beside, rest, entropy: entropy / Math.LN2 };
  });
}
