// Words of a source that left no trace in what is written: transformer/analysis/lost.py says why
// so.

const LOST = 0.1; // nats below which a content word is a candidate
const NEAR = 0.7; // nats below which a neighbour belongs to the same span
const SHARE = 0.3; // of hiding beside cutting
const WINDOW = 2; // words on both sides
const BACKED = 1.5; // nats of a candidate, once one of them is hidden, that says the same
const LEAST = -2; // nats below which neither counts further
const LONGEST = 3; // words of a listed phrase

// What the whole of what is written loses without a word, in nats. hidden, cut: sums over all of
// it.
export function trace(hidden, cut) {
  return Math.max(cut, LEAST) + SHARE * Math.max(hidden, LEAST);
}

// The spans of a source that are lost, each the numbers of its words. words: { text, isSpecial } of
// each word; values [S]: of `trace`; closed: the numbers of hidden words; lists: { functionWords,
// opens }; withoutBoth: pairs of words -> what is lost without both, by `trace`.
export function lostWords(words, values, closed, { functionWords, opens }, withoutBoth) {
  const places = words.flatMap(({ isSpecial }, i) => (isSpecial ? [] : [i]));
  const content = contentWords(places, words, new Set(functionWords));
  const stems = words.map(({ text }) => stemOf(text));
  const often = (i) => places.filter((j) => stems[j] === stems[i]).length;
  const sure = places.filter(
    (i) => content.has(i) && !closed.has(i) && values[i] < LOST && often(i) === 1,
  );
  if (!sure.length) return [];
  const isName = (i) => i !== places[0] && /^\p{Lu}/u.test(words[i].text);
  const isNear = (i, j) => i !== j && Math.abs(i - j) <= WINDOW;
  const pairs = sure
    .filter((i) => !isName(i))
    .flatMap((i) => places.filter((j) => isNear(i, j)).map((j) => [i, j]));
  const both = withoutBoth(pairs);
  const backed = new Set(pairs.filter(([, j], n) => both[n] - values[j] >= BACKED).map(([i]) => i));
  const near = (i) => !closed.has(i) && values[i] < NEAR && isSpoken(words[i].text);
  const isLost = (i) => sure.includes(i) && !backed.has(i);
  return spansOf(places.filter(near), isLost, (i) => content.has(i), words, opens);
}

const stemOf = (text) => {
  const small = text.toLowerCase();
  return [...text].length > 3 ? small.replace(/s$/, "") : small;
};

// Joins words that follow each other, where one of them is lost; a span begins and ends with
// content.
function spansOf(near, isLost, isContent, words, opens) {
  const runs = [];
  for (const i of near) {
    if (runs.at(-1)?.at(-1) === i - 1) runs.at(-1).push(i);
    else runs.push([i]);
  }
  return runs.filter((span) => span.some(isLost)).map((span) => {
    const begins = (i) => isContent(i) || opens.includes(words[i].text.toLowerCase());
    return span.slice(span.findIndex(begins), span.findLastIndex(isContent) + 1);
  });
}

// The numbers of words that are none of those listed, alone or in a phrase, and no signs.
function contentWords(places, words, listed) {
  const plain = places.map((i) => words[i].text.toLowerCase());
  const inPhrases = new Set();
  for (let n = 2; n <= LONGEST; n++) {
    for (let at = 0; at + n <= plain.length; at++) {
      if (!listed.has(plain.slice(at, at + n).join(" "))) continue;
      for (let k = 0; k < n; k++) inPhrases.add(at + k);
    }
  }
  return new Set(
    places.filter((i, k) => !inPhrases.has(k) && isContentWord(words[i].text, listed)),
  );
}

function isContentWord(text, listed) {
  const small = text.toLowerCase().replaceAll("’", "'");
  const isListed = listed.has(small) || listed.has(small.split("'")[0]);
  return [...text].length > 1 && isSpoken(text) && !isListed;
}

const isSpoken = (text) => /[\p{L}\p{N}]/u.test(text);
