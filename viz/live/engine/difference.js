// The difference of two texts, where it is in one place and seen at once:
// transformer/causes/change.py.

// patterns: { negating, functionWords } of the language that is written, as texts of regular
// expressions, or null where none are known; textWords: a text -> its words, as `text_words` of
// transformer/words.py. Returns { kind: "negation", "word" or "number", gone, came }, or null.
export function difference(before, after, patterns, textWords) {
  const [old, fresh] = [before, after].map((text) => textWords(text).filter(isSpoken));
  const small = (words) => words.map((word) => word.toLowerCase());
  const places = replaced(small(old), small(fresh));
  if (places.length !== 1) return null;
  const [[from, to], [start, end]] = places[0];
  const [gone, came] = [old.slice(from, to), fresh.slice(start, end)];
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

export const hasDigit = (text) => /\p{Nd}/u.test(text);

// Whether a whole word is of a pattern, in small letters.
export function isIn(pattern, word) {
  return pattern !== null && new RegExp(`^(?:${pattern})$`, "u").test(word.toLowerCase());
}

// The places in which two lists differ, [[from, to], [from, to]] each, as Python's difflib has
// them: around the longest run that both have, then on either side of it.
function replaced(a, b) {
  const runs = [];
  const search = (from, to, start, end) => {
    const [i, j, n] = longestRun(a, b, from, to, start, end);
    if (!n) return;
    search(from, i, start, j);
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
function longestRun(a, b, from, to, start, end) {
  let found = [from, start, 0];
  for (let i = from; i < to; i++) {
    for (let j = start; j < end; j++) {
      let n = 0;
      while (i + n < to && j + n < end && a[i + n] === b[j + n]) n++;
      if (n > found[2]) found = [i, j, n];
    }
  }
  return found;
}
