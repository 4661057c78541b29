// Two heads beside each other, of one run or of two, in numbers: what viz/pages/compare says of them, and
// their difference, as viz/views/heads.py has it, for the component that draws one head.

import { replaced } from "../engine/change.js";
import { allowedOf, headerOf, openMap, sidesOf, weightsOf } from "./maps.js";
import { metric, metricText } from "./metrics.js";
import { filled, fixed } from "./numbers.js";
import { pack } from "./pack.js";
import { general } from "./tables.js";

const PLAIN = { words: false, special: "shown" };

// a, b: { site, answer } of both. of: { first, second }: { kind, layer, head } of each; reading: of the
// pictures.
export function comparison(a, b, { first, second, reading }) {
  const [one, other] = [mapOf(a, first), mapOf(b, second)];
  const kinds = Object.keys(a.site.kinds);
  const sides = kinds.map((kind) => [kind, sidesOf(openMap(a.site, a.answer, kind, reading))]);
  return pack({
    whyNot: whyNot(a.site, one, other),
    heads: isAlike(one, other) ? headsOf(a.site, one, other) : null,
    numbers: numbersOf(a.site, [one, other]),
    sides: Object.fromEntries(sides),
    twins: { a: {}, b: twinOf(a, b) },
  });
}

// The weights of A less those of B, as a map with a scale of two sides; null where there is none.
export function difference(a, b, { first, second }) {
  const [one, other] = [mapOf(a, first), mapOf(b, second)];
  if (!isAlike(one, other)) return null;
  const values = one.weights.map((value, i) => value - other.weights[i]);
  const [allowed, theirs] = [one, other].map(({ map, layer, head }) => allowedOf(map, layer, head));
  const isOpen = (i) => !allowed || !theirs || allowed[i] || theirs[i];
  const shown = values.map((value, i) => (isOpen(i) ? value : Number.NaN));
  const size = (i) => (Number.isNaN(shown[i]) ? -1 : Math.abs(shown[i]));
  const width = one.map.columns.length;
  const farthest = (from, to) => {
    let best = from;
    for (let i = from; i < to; i++) if (size(i) > size(best)) best = i;
    return best;
  };
  const best = farthest(0, shown.length);
  const largest = size(best);
  const words = a.site.compare;
  const header = headerOf(a.site, one.map, "head_map");
  const says = filled(words.difference, {
    first: nameOf(first),
    second: nameOf(second),
    kind: a.site.kinds[first.kind].name,
    other: b.site.kinds[second.kind].name,
    largest: general(largest, 2),
    bits: general(jensenShannon(one, other), 2),
  });
  return pack(
    {
      ...header,
      id: `${first.kind} ${nameOf(first)} − ${second.kind} ${nameOf(second)}`,
      layer: first.layer,
      head: first.head,
      name: `${nameOf(first)} − ${nameOf(second)}`,
      title: words.a_less_b,
      block: [1, 1],
      region: null,
      says,
      sentence: { ...header.sentence, seen: words.cell },
      lens: { ...header.lens, name: "difference", title: words.a_less_b, scale: "signed" },
      bounds: [-(largest || 1), largest || 1],
      tokens: `difference ${header.rows.length} ${width}`,
      masked: shown.some(Number.isNaN),
      strongest: { row: Math.floor(best / width), column: best % width, value: shown[best] },
    },
    [shown, one.map.rows.length, width],
    [Int32Array.from(one.map.rows, (_, row) => farthest(row * width, (row + 1) * width) % width), one.map.rows.length],
  );
}

const nameOf = ({ layer, head }) => `L${layer} H${head}`;

// One head, cell by cell.
function mapOf({ site, answer }, { kind, layer, head }) {
  const map = openMap(site, answer, kind, PLAIN);
  const isProduced = map.isProduced;
  const queries = kind === "encoder_self" ? answer.source : answer.read;
  const names = isProduced ? answer.target : queries;
  return { site, map, layer, head, queries, names, weights: weightsOf(map, layer, head) };
}

const spelled = (tokens) => JSON.stringify(tokens.map(({ id, piece, special }) => [id, piece, special]));

const isAlike = (one, other) =>
  spelled(one.queries) === spelled(other.queries) && spelled(one.map.keys) === spelled(other.map.keys);

// Why their weights cannot be subtracted; "": they can.
function whyNot(site, one, other) {
  if (isAlike(one, other)) return "";
  const [[rows, columns], [other_rows, other_columns]] = [one.map.n, other.map.n];
  return filled(site.compare.different, { rows, columns, other_rows, other_columns });
}

// How far two heads are apart, and the cell where most.
function headsOf(site, one, other) {
  let [place, largest] = [0, -1];
  one.weights.forEach((value, i) => {
    const far = Math.abs(value - other.weights[i]);
    if (far > largest) [place, largest] = [i, far];
  });
  const [query, key] = [Math.floor(place / one.map.n[1]), place % one.map.n[1]];
  return {
    bits: fixed(jensenShannon(one, other), 4),
    largest: fixed(largest, 4),
    query: inWord(site, one.names, query),
    key: inWord(site, one.map.keys, key),
    a: fixed(one.weights[place], 2),
    b: fixed(other.weights[place], 2),
  };
}

// One piece of a text by the word that it is in, as `in_word` of viz/labels.py names it.
function inWord({ words, compare: { in_word: named } }, tokens, position) {
  const group = words.groups(tokens).find((each) => each.includes(position));
  const word = words.text(group.map((i) => tokens[i]));
  const piece = words.bareLabel(tokens[position]);
  if (piece === word) return word;
  const signs = [...word];
  const whole = signs.length <= named.most ? word : `${signs.slice(0, named.most - 1).join("")}…`;
  const isSpace = group.length > 1 && words.isSpace(tokens[position].piece);
  return filled(isSpace ? named.space : named.piece, { piece, word: whole });
}

// The mean over queries that look at something in both, in bits (Lin 1991).
function jensenShannon({ weights, map: { n } }, { weights: others }) {
  let [sum, count] = [0, 0];
  for (let row = 0; row < n[0]; row++) {
    const [a, b] = [weights, others].map((all) => all.subarray(row * n[1], (row + 1) * n[1]));
    if (!a.some((value) => value > 0) || !b.some((value) => value > 0)) continue;
    const middle = Float64Array.from(a, (value, i) => (value + b[i]) / 2);
    const bits = entropyOf(middle) - (entropyOf(a) + entropyOf(b)) / 2;
    sum += Math.min(1, Math.max(0, bits));
    count++;
  }
  return count ? sum / count : Number.NaN;
}

function entropyOf(row) {
  let bits = 0;
  for (const value of row) if (value > 0) bits -= value * Math.log2(value);
  return bits;
}

// [title, text of A, text of B] of each number that one of both has; null: it does not apply.
function numbersOf(site, both) {
  const texts = both.map(({ site: own, map, layer, head }) => {
    const { metrics } = own.kinds[map.kind].headers.head_grid;
    const values = metrics.map((each) => {
      const value = metric(each.name, weightsOf(map, layer, head), map.n);
      return [each.title, metricText(own.numbers, each, value)];
    });
    return new Map(values);
  });
  const titles = [...new Set(texts.flatMap((own) => [...own.keys()]))];
  return titles.map((title) => [title, ...texts.map((own) => own.get(title) ?? null)]);
}

// side -> for each token of A the place of its counterpart in B, -1 for none; a side whose tokens are
// the same is left out: `twin` of viz/components/kit/picture.py.
function twinOf(a, b) {
  const sides = ["source", "target"].map((side) => [side, a.answer[side], b.answer[side]]);
  const others = sides.filter(([, own, other]) => spelled(own) !== spelled(other));
  return Object.fromEntries(others.map(([side, own, other]) => [side, counterparts(a, b, own, other)]));
}

function counterparts(a, b, own, other) {
  const [groups, theirs] = [a.site.words.groups(own), b.site.words.groups(other)];
  const spell = ({ site }, tokens, all) => all.map((group) => site.words.bare(group.map((i) => tokens[i])));
  const [words, otherWords] = [spell(a, own, groups), spell(b, other, theirs)];
  const places = own.map(() => -1);
  const pair = (word, otherWord) => {
    const there = theirs[otherWord];
    groups[word].forEach((place, i) => (places[place] = there[Math.min(i, there.length - 1)]));
  };
  let [x, y] = [0, 0];
  for (const [[from, to], [begin, end]] of [...replaced(words, otherWords), [[words.length, words.length], [0, 0]]]) {
    for (; x < from; x++, y++) pair(x, y);
    if (to - from === end - begin) for (let i = 0; i < to - from; i++) pair(from + i, begin + i);
    [x, y] = [to, end];
  }
  return places;
}
