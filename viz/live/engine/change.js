// The fewest heads without which a sentence is written otherwise, in one place that is seen at
// once: transformer/causes/change.py says how they are looked for, and why so.

import { forced, written } from "./again.js";

const N_STRONGEST = 5; // heads of each written word that are tried: its absence costs most of them
const MOST_DECODED = 4; // groups that are decoded, at most, beside those that are known
const SHORTEST = 3; // letters of a word that is looked for as lost

// Searches for an answer of `open` without changes. words: { carriers, patterns,
// textWords, textOfWord }: carriers, groups of changes that are known to carry the negation, the
// smallest first; patterns, textWords: see `difference`; textOfWord: tokens -> the word that they
// spell. A generator: it yields the search as far as it is, and returns it; as in evidence.js,
// nothing else may be asked of `open` in between. A search: { change, nScored, nDecoded }, change
// being { heads, difference, text, isKnown } or null, and heads changes such as
// "head-off:cross.1.7".
export function* searchingChange(open, answer, words) {
  const { carriers = [], patterns, textWords } = words;
  const search = { change: null, nScored: 0, nDecoded: 0 };
  const without = (heads, isKnown) => {
    const text = open.tokenizer.decode(written(open, answer, heads));
    search.nDecoded++;
    const seen = difference(answer.text, text, patterns, textWords);
    return seen && { heads, difference: seen, text, isKnown };
  };
  yield { ...search };
  const isNegated = textWords(answer.text).some((word) => isIn(patterns.negating, word));
  for (const group of isNegated ? carriers : []) {
    const change = without(group, true);
    if (change?.difference.kind === "negation") return { ...search, change };
    yield { ...search };
  }
  const passes = yield* forecast(open, answer, search);
  for (const group of promising(answer, passes, words).slice(0, MOST_DECODED)) {
    const change = without(group, false);
    if (change) return { ...search, change };
    yield { ...search };
  }
  return { ...search };
}

// Forced passes, { group, own, likeliest }, the first of which is of no heads: of each head of
// cross-attention, and of pairs of those that a word misses most.
function* forecast({ model }, answer, search) {
  const { n_decoder_layers, n_heads } = model.config;
  const heads = Array.from({ length: n_decoder_layers * n_heads }, (_, i) =>
    `head-off:cross.${Math.floor(i / n_heads)}.${i % n_heads}`);
  const passes = [];
  const pass = (group) => {
    passes.push({ group, ...forced(model, answer, group) });
    return { ...search, nScored: passes.length };
  };
  for (const group of [[], ...heads.map((head) => [head])]) yield pass(group);
  const [plain, ...singles] = passes;
  const pairs = new Map();
  for (const pieces of answer.targetWords) {
    const loss = singles.map(({ own }) =>
      pieces.reduce((sum, i) => sum + plain.own[i] - own[i], 0));
    const strongest = heads.map((_, i) => i).sort((i, j) => loss[j] - loss[i]);
    const some = strongest.slice(0, N_STRONGEST).sort((i, j) => i - j);
    for (const i of some) {
      for (const j of some) if (i < j) pairs.set(i * heads.length + j, [heads[i], heads[j]]);
    }
  }
  for (const key of [...pairs.keys()].sort((i, j) => i - j)) yield pass(pairs.get(key));
  search.nScored = passes.length;
  return passes;
}

// The groups after which one word is likely to be lost, or a negation or number to be another, the
// most promising first.
function promising({ target, targetIds, targetWords }, passes, { patterns, textOfWord }) {
  const texts = targetWords.map((pieces) => textOfWord(pieces.map((i) => target[i])));
  const starts = new Map(targetWords.map(([first], number) => [first, number]));
  const chosen = new Map();
  const [plain, ...others] = passes;
  for (const { group, likeliest } of others) {
    const isFlipped = (at) => likeliest[at] !== plain.likeliest[at];
    const flips = targetIds.map((_, at) => at).filter(isFlipped);
    for (const at of flips) {
      const number = starts.get(at);
      if (number === undefined || number + 1 === targetWords.length) continue;
      const [word, id] = [texts[number], likeliest[at]];
      const isSkipped =
        id === targetIds[targetWords[number + 1][0]] &&
        [...word].length >= SHORTEST &&
        !isIn(patterns.functionWords, word);
      if (!isSkipped && !isIn(patterns.negating, word) && !hasDigit(word)) continue;
      const worth = 4 * Number(isSkipped) - 0.7 * group.length - 0.8 * flips.length;
      const key = `${at} ${id}`;
      if (!(worth <= chosen.get(key)?.worth)) chosen.set(key, { worth, group });
    }
  }
  const ranked = [...chosen.values()].sort((a, b) => b.worth - a.worth);
  return [...new Map(ranked.map(({ group }) => [group.join(), group])).values()];
}

// The difference of two texts, where it is in one place and seen at once.

// patterns: { negating, functionWords } of the language that is written, as texts of regular
// expressions, or null where none are known; textWords: a text -> its words, as `text_words` of
// transformer/words.py. Returns { kind: "negation", "word" or "number", gone, came }, or null.
function difference(before, after, patterns, textWords) {
  const [old, fresh] = [before, after].map((text) => textWords(text).filter(isSpoken));
  const small = (words) => words.map((word) => word.toLowerCase());
  const places = replaced(small(old), small(fresh));
  if (places.length !== 1) return null;
  const [[from, to], [begin, end]] = places[0];
  const [gone, came] = [old.slice(from, to), fresh.slice(begin, end)];
  const negating = gone.filter((word) => isIn(patterns.negating, word));
  if (negating.length) {
    if (came.some((word) => isIn(patterns.negating, word))) return null;
    return { kind: "negation", gone: negating.join(" "), came: came.join(" ") };
  }
  if (!came.length && !gone.every((word) => isIn(patterns.functionWords, word))) {
    return { kind: "word", gone: gone.join(" "), came: "" };
  }
  if (gone.some(hasDigit) && came.some(hasDigit)) {
    return { kind: "number", gone: gone.join(" "), came: came.join(" ") };
  }
  return null;
}

const isSpoken = (text) => /[\p{L}\p{N}]/u.test(text);

const hasDigit = (text) => /\p{Nd}/u.test(text);

// Whether a whole word is of a pattern, in small letters.
function isIn(pattern, word) {
  return pattern !== null && new RegExp(`^(?:${pattern})$`, "u").test(word.toLowerCase());
}

// The places in which two lists differ, [[from, to], [from, to]] each, as Python's difflib has
// them: around the longest run that both have, then on either side of it.
export function replaced(a, b) {
  const runs = [];
  const search = (from, to, begin, end) => {
    const [i, j, n] = longestRun(a, b, from, to, begin, end);
    if (!n) return;
    search(from, i, begin, j);
    runs.push([i, j, n]);
    search(i + n, to, j + n, end);
  };
  search(0, a.length, 0, b.length);
  const places = [];
  let [x, y] = [0, 0];
  for (const [i, j, n] of [...runs, [a.length, b.length, 0]]) {
    if (x < i || y < j) places.push([[x, i], [y, j]]);
    [x, y] = [i + n, j + n];
  }
  return places;
}

// [where in a, where in b, how long] of the longest run of both; of equal ones the first.
function longestRun(a, b, from, to, begin, end) {
  let found = [from, begin, 0];
  for (let i = from; i < to; i++) {
    for (let j = begin; j < end; j++) {
      let n = 0;
      while (i + n < to && j + n < end && a[i + n] === b[j + n]) n++;
      if (n > found[2]) found = [i, j, n];
    }
  }
  return found;
}
