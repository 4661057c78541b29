// The verdict on a written word: transformer/causes/verdict.py judges by the same thresholds, and
// its sentences are filled in here.

import { filled, fixed } from "./numbers.js";

const quoted = (word) => `“${word}”`;

// number: of the written word; words, sourceWords: texts; evidence: of viz/live/engine/evidence.js.
// Returns { kind, text, looksAt, needs, nats, also }, the places being numbers of words, or null.
export function verdictOf({ verdict: table }, evidence, number, words, sourceWords) {
  const [, , , heldByPrefix, undecided] = table.kinds;
  const { least, sentences } = table;
  const hidden = evidence.hidden[number];
  const [most, ...also] = needed(hidden, least);
  const [before, held] = dearest(evidence.prefix[number].slice(0, number));
  const cost = hidden[most];
  const looksAt = evidence.isBeside[number] ? null : dearest(evidence.weights[number])[0];
  const places = {
    own: quoted(words[number]),
    seen: looksAt === null ? "" : quoted(sourceWords[looksAt]),
    before: quoted(words[before]),
    held: fixed(held, 2),
  };
  if (cost < least) {
    const isHeld = held >= least;
    const text = filled(isHeld ? sentences.held : sentences.nothing, {
      ...places,
      looks: looksAt === null ? "" : filled(sentences.looks, places),
      cost: fixed(Math.max(cost, 0), 2),
    });
    const [kind, needs] = isHeld ? [heldByPrefix, before] : [undecided, null];
    return { kind, text, looksAt, needs, nats: isHeld ? held : cost, also: [] };
  }
  const all = [most, ...also];
  const kind = kindOf(table, looksAt, all, evidence.cut[number]);
  const costs = all.map((i) => ({ word: quoted(sourceWords[i]), cost: fixed(hidden[i], 2) }));
  const text = textOf(table, kind, { ...places, costs, isSeen: all.includes(looksAt) }, looksAt);
  const isDearer = held >= Math.max(table.much * cost, cost + least);
  const more = isDearer && !table.kinds.slice(0, 2).includes(kind);
  const written = more ? filled(sentences.written, places) : "";
  return { kind, text: text + written, looksAt, needs: most, nats: cost, also };
}

// looksAt: null where no word of the source has any weight; needs: numbers of words.
function kindOf({ kinds, least }, looksAt, needs, cut) {
  const [agrees, backedUp, moved, , undecided] = kinds;
  if (looksAt === null) return undecided;
  if (needs.includes(looksAt)) return cut[looksAt] >= least ? agrees : backedUp;
  return needs.some((i) => cut[i] >= least) ? undecided : moved;
}

// The sentence of a word that needs some of the source. costs: of these, the most expensive first.
function textOf({ sentences }, kind, { costs, isSeen, ...places }, looksAt) {
  const it = costs.length > 1 ? sentences.several : sentences.one;
  const needs = listed(sentences, costs);
  if (looksAt === null) {
    return filled(sentences.elsewhere, { ...places, needs, where: sentences["no word"] });
  }
  if (!isSeen) return filled(sentences[kind], { ...places, needs, it });
  const alone = filled(sentences.cost, { ...costs[0], word: it });
  const of = costs.length > 1 ? { needs, it: places.seen } : { needs: alone, it };
  return filled(sentences[kind], { ...places, ...of });
}

// The numbers of the words that are needed, the most expensive first: that one whatever it costs.
function needed(hidden, least) {
  const [most, ...others] = [...hidden.keys()].sort((a, b) => hidden[b] - hidden[a]);
  return [most, ...others.filter((i) => hidden[i] >= Math.max(least, hidden[most] - least))];
}

// The number of the largest value, the first of equal ones, and the value; of none 0 and 0.
function dearest(values) {
  const best = values.reduce((most, value, i) => (value > values[most] ? i : most), 0);
  return [best, values[best] ?? 0];
}

// Words with their costs, the unit once.
function listed(sentences, costs) {
  const last = filled(sentences.cost, costs.at(-1));
  if (costs.length === 1) return last;
  const others = costs.slice(0, -1).map((each) => filled(sentences["cost of several"], each));
  const template = others.length > 1 ? sentences.many : sentences.two;
  return filled(template, { first: others.join(", "), last });
}
