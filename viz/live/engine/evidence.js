// What each written word looks at, and what it needs, in numbers: transformer/causes/evidence.py.

import { lostWords, trace } from "./lost.js";
import { best, distributions, read, start } from "./model.js";

const MOST_FOILS = 50; // tokens of a place among which its runner-up is
const BEFORE = { id: -1, piece: "a", special: false, unknown: false, byte: null };
const UNKNOWN = -1; // read in the place of a replaced word: see `read`

// The evidence of an answer of `open`. lists: { functionWords, opens } of the source's language, as
// transformer/analysis/lost.py has them; null: lost words are not looked for. textOfWord: tokens ->
// the word that they spell. A generator: it yields { done, all } after each run of the model,
// between which nothing else may be asked of `open`; it may be dropped. T written words, S words of
// the source, P pieces that are written; in nats. Returns {
//   logProbs [T]: with every word in its place; withoutSource [T]: with all of the source hidden;
//   hidden [T][S]: the cost of nobody's seeing a word; cut [T][S]: of the decoder's not reading it;
//   prefix [T][T]: of replacing a written word, 0 from the diagonal on;
//   weights [T][S]: where the last layer looks, the mean of its heads and of the word's rows;
//   isBeside [T]: whether no weight is on the source;
//   runnerUps [P]: ids of the most probable other token at each piece;
//   contrast [T][S]: what hiding takes from the lead over them;
//   lost: spans, as the numbers of their words; null: not looked for }
export function* evidenceOf(open, answer, lists = null, textOfWord = () => "") {
  const { model } = open;
  const { targetIds: ids, words, targetWords } = answer;
  const run = { model, answer, foils: [] };
  const numbers = words.map((_, i) => i);
  const progress = { done: 0, all: 2 * words.length + targetWords.length + 1 };
  const tell = () => ({ ...progress, done: ++progress.done });

  // 1. Nothing more is changed; the runners-up are of this run.
  const plain = scored(run, [], (row, take) => run.foils.push(foilOf(open, take, ids[row])));
  yield tell();
  // 2. What the decoder may not read, and what it has read of its own: the encoder need not run
  // again.
  const cut = [];
  for (const i of numbers) {
    cut.push(scored(run, [`cut-word:cross.${i}`]).own);
    yield tell();
  }
  const prefix = targetWords.map(() => targetWords.map(() => 0));
  for (const costs of replacements(run, plain.own)) {
    costs.after.forEach((cost, t) => (prefix[t][costs.word] = cost));
    yield tell();
  }
  // 3. What nobody sees.
  const hidden = [];
  for (const i of numbers) {
    hidden.push(scored(run, [`hide:source.${i}`]));
    yield tell();
  }
  const none = scored(run, numbers.map((i) => `hide:source.${i}`));
  // 4. In words, [N, P] -> [T][N].
  const word = (pieces, group) => group.reduce((sum, i) => sum + pieces[i], 0);
  const costs = (one, others) => targetWords.map((group) =>
    others.map((other) => word(one, group) - word(other, group)));
  const lead = ({ own, foil }) => own.map((value, i) => value - foil[i]);
  const weights = looks(answer, model.config);
  const result = {
    logProbs: targetWords.map((group) => word(plain.own, group)),
    withoutSource: targetWords.map((group) => word(none.own, group)),
    hidden: costs(plain.own, hidden.map(({ own }) => own)),
    cut: costs(plain.own, cut),
    prefix,
    weights,
    isBeside: weights.map((row) => Math.max(...row) <= 0),
    runnerUps: run.foils,
    contrast: costs(lead(plain), hidden.map(lead)),
    lost: null,
  };
  if (lists) result.lost = lostOf(run, result, plain.own, lists, textOfWord);
  return result;
}

// Where the last layer looks as a word is written: [T][S].
function looks({ weights, words, targetWords, targetIds, sourceIds }, config) {
  const all = weights("cross", config.n_decoder_layers - 1);
  const { n_heads } = config;
  const at = (row, key) => {
    let sum = 0;
    for (let head = 0; head < n_heads; head++) {
      sum += all[(head * targetIds.length + row) * sourceIds.length + key];
    }
    return sum / n_heads;
  };
  const mean = (rows, key) => rows.reduce((sum, row) => sum + at(row, key), 0) / rows.length;
  return targetWords.map((rows) =>
    words.map((keys) => keys.reduce((sum, key) => sum + mean(rows, key), 0)));
}

// What is most probable beside a written token, of the tokens that begin a word as it does, or go
// on with one; of none such the first.
function foilOf({ groups, token }, row, id) {
  const goesOn = (each) => groups([BEFORE, token(each)]).length === 1;
  const others = best(row, MOST_FOILS + 1).filter((each) => each !== id);
  return others.find((each) => goesOn(each) === goesOn(id)) ?? others[0];
}

// One forced pass under further changes: own [P], foil [P], the log-probabilities of what is
// written and of the runners-up. look(row, distribution [V]): is shown each row before they are
// read.
function scored({ model, answer, foils }, more, look = null) {
  const { sourceIds, targetIds, readIds, changes, words } = answer;
  start(model, sourceIds, [...changes, ...more], words);
  read(model, readIds, [[]], true);
  const [own, foil] = [[], []];
  distributions(model, readIds.length, (row, from) => {
    look?.(row, model.floats.subarray(from, from + model.config.vocab_size));
    own.push(model.floats[from + targetIds[row]]);
    foil.push(model.floats[from + foils[row]]);
  });
  return { own, foil };
}

// Each written word but the last replaced: yields { word, after [T] }, what each word then loses.
// The rows before it stay, and so do their keys.
function* replacements({ model, answer }, plain) {
  const { sourceIds, targetIds, readIds, changes, words, targetWords } = answer;
  start(model, sourceIds, changes, words);
  const slots = read(model, readIds, [[]], true);
  for (const [word, group] of targetWords.slice(0, -1).entries()) {
    const first = group[0] + 1; // where its first piece is read
    const ids = readIds.map((id, i) => (group.includes(i - 1) ? UNKNOWN : id)).slice(first);
    model.n_slots = slots.length;
    read(model, ids, [slots.slice(0, first)], true);
    const costs = plain.map(() => 0);
    distributions(model, ids.length, (row, from) => {
      const place = first + row;
      costs[place] = plain[place] - model.floats[from + targetIds[place]];
    });
    const after = targetWords.map((pieces, t) =>
      t > word ? pieces.reduce((sum, i) => sum + costs[i], 0) : 0);
    yield { word, after };
  }
}

// The spans of the source without a trace in all that is written.
function lostOf(run, { hidden, cut }, plain, lists, textOfWord) {
  const { source, words, changes } = run.answer;
  const sum = (rows, i) => rows.reduce((all, row) => all + row[i], 0);
  const values = words.map((_, i) => trace(sum(hidden, i), sum(cut, i)));
  const whole = plain.reduce((a, b) => a + b, 0);
  const without = (...more) => whole - scored(run, more).own.reduce((a, b) => a + b, 0);
  // All that are cut first: they need no further run of the encoder.
  const withoutBoth = (pairs) => {
    const cuts = pairs.map((pair) => without(...pair.map((i) => `cut-word:cross.${i}`)));
    return pairs.map((pair, n) =>
      trace(without(...pair.map((i) => `hide:source.${i}`)), cuts[n]));
  };
  const named = words.map((group) => ({
    text: textOfWord(group.map((i) => source[i])),
    isSpecial: source[group[0]].special,
  }));
  const closed = changes.filter((each) => each.startsWith("hide:source."));
  const numbers = new Set(closed.map((each) => Number(each.split(".")[1])));
  return lostWords(named, values, numbers, lists, withoutBoth);
}
