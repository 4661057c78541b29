// Head ablation: what each head is worth to each word of an answer, every head off in turn, and what
// is written then: transformer/analysis/ablation.py.

import { forced, written } from "./again.js";
import { layersOf } from "./config.js";
import { classify, start } from "./model.js";

// The sweep of an answer of `open` without changes. textOfWord: tokens -> the word that they spell.
// before: one that was dropped, which goes on. A generator: it yields the sweep after each run of
// the model, between which something else may be asked of `open`, and returns it. A sweep: {
//   heads [N]: changes such as "head-off:cross.1.7";
//   logProbs [T]: of each written token, or of each class, in nats; best: of the most probable class;
//   changes [n][T]: what a head's absence adds to them, of the n heads that were tried;
//   written: Map of head -> the words that are written then, or the class; plain: the same without }
export function* sweepOf(open, answer, textOfWord, before = null) {
  const { classes, target, targetWords } = answer;
  const spell = (tokens, groups) => groups.map((group) => textOfWord(group.map((i) => tokens[i])));
  const plain = classes ? [answer.text] : spell(target, targetWords);
  const heads = headsOf(open.model.config);
  const sweep = before ?? { heads, ...scored(open, answer, []), changes: [], written: new Map(), plain };
  const { logProbs, changes } = sweep;
  while (changes.length < heads.length) {
    const head = heads[changes.length];
    const own = scored(open, answer, [head]);
    changes.push(own.logProbs.map((value, i) => value - logProbs[i]));
    if (classes) sweep.written.set(head, [classes[own.best].name]);
    yield sweep;
  }
  // Heads whose words lose most are written first.
  const order = totalsOf(sweep).map((total, i) => [total, i]).sort(([a], [b]) => a - b);
  for (const [, i] of order) {
    if (sweep.written.has(heads[i])) continue;
    const tokens = written(open, answer, [heads[i]]).map(open.token);
    sweep.written.set(heads[i], spell(tokens, open.groups(tokens)));
    yield sweep;
  }
  return sweep;
}

// What the absence of each head adds to the whole output: to all words, or the class it names.
export function totalsOf({ changes, best }) {
  return changes.map((row) => (best === null ? row.reduce((a, b) => a + b, 0) : row[best]));
}

function headsOf(config) {
  const heads = Array.from({ length: config.n_heads }, (_, head) => head);
  return Object.entries(layersOf(config)).flatMap(([kind, n]) =>
    Array.from({ length: n }, (_, layer) =>
      heads.map((head) => `head-off:${kind}.${layer}.${head}`)).flat());
}

// best: null where something is written.
function scored({ model }, answer, changes) {
  if (!answer.classes) return { logProbs: forced(model, answer, changes).own, best: null };
  start(model, answer.sourceIds, changes, answer.words);
  const logits = classify(model, answer.sourceIds.length);
  const top = Math.max(...logits);
  const whole = top + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - top), 0));
  return { logProbs: logits.map((logit) => logit - whole), best: logits.indexOf(top) };
}
