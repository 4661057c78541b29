// The row that a scene means, found in an answer of the engine: viz/lessons/subject.py has the same
// rules, and the same names for words.

import { allowedOf, openMap, weightsOf } from "../payloads/maps.js";
import { metric } from "../payloads/metrics.js";
import { filled } from "../payloads/numbers.js";

const LETTER = /[\p{L}\p{N}]/gu;

// of: what Python says of the scene (viz/lessons/own.py). Null where there is no such head.
export function rowOf(site, answer, of) {
  for (const rule of of.head) {
    const place = headOf(site, answer, of, rule);
    if (place) return opened(site, answer, of, place);
  }
  return null;
}

const pieces = { words: false, special: "shown" };

// The head with the largest, or least, value of a metric; the first of equals.
function headOf(site, answer, { metrics }, [isMost, name, wanted]) {
  let best = null;
  for (const kind of Object.keys(site.kinds)) {
    if ((wanted !== "any" && wanted !== kind) || !metrics[kind].includes(name)) continue;
    const map = openMap(site, answer, kind, pieces);
    for (let layer = 0; layer < map.numbers.length; layer++) {
      for (let head = 0; head < map.nHeads; head++) {
        const measured = metric(name, weightsOf(map, layer, head), map.n);
        const known = Number.isNaN(measured) ? -Infinity : measured;
        const value = isMost ? known : -known;
        if (!best || value > best.value) best = { value, kind, layer, head };
      }
    }
  }
  return best;
}

// The row of a head, with all that tasks ask of it.
function opened(site, answer, of, { kind, layer, head }) {
  const plain = openMap(site, answer, kind, pieces);
  const [queries, keys] = [plain.rowGroups.length, plain.n[1]];
  const weights = weightsOf(plain, layer, head);
  const allowed = allowedOf(plain, layer, head) ?? new Uint8Array(queries * keys).fill(1);
  const tokens = plain.isProduced ? answer.target : sideOf(answer, kind);
  const query = queryOf(site, of, { weights, allowed, tokens, keys: plain.keys });
  const isOfWords = of.isOfWords && isWhole(site, tokens)[query];
  const map = openMap(site, answer, kind, { words: isOfWords, special: "shown" });
  const row = map.rowGroups.findIndex((group) => group.includes(query));
  const isOpen = allowedOf(map, layer, head);
  const width = map.columnGroups.length;
  const columns = map.columnGroups.map((_, i) => i).filter((i) => !isOpen || isOpen[row * width + i]);
  const groups = columns.map((i) => map.columnGroups[i]);
  const line = weights.subarray(query * keys, (query + 1) * keys);
  const names = numbered(ofGroups(site, of, map.keys, map.columnGroups));
  const openKeys = Array.from({ length: keys }, (_, i) => i).filter((i) => allowed[query * keys + i]);
  const tokenNames = numbered(inWords(site, of, map.keys));
  return {
    kind, layer, head, query, row, groups, weights, allowed, openKeys, keys, queries,
    isCross: kind === "cross",
    produced: plain.isProduced,
    all: tokens,
    words: columns.map((i) => names[i]),
    ofWords: groups.map((group) => group.reduce((sum, i) => sum + line[i], 0)),
    tokens: openKeys.map((i) => tokenNames[i]),
    ofTokens: openKeys.map((i) => line[i]),
    rowWord: numbered(inWords(site, of, tokens))[query],
    headName: `L${plain.numbers[layer]} H${head}`,
    map: plain,
  };
}

const sideOf = (answer, kind) => (kind === "encoder_self" ? answer.source : answer.read);

export function about(site, of, row) {
  const { kind, rowWord, headName, isCross, produced } = row;
  let looks = kind === "encoder_self" ? "sentence" : "cross" in site.kinds ? "output" : "text";
  if (isCross) looks = produced ? "written" : "sentence";
  return filled(of.rows[looks], { row: rowWord, head: headName, kind: site.kinds[kind].name });
}

// Rules of rows, in turn: where one leaves none, it is left out; the last three, where less than two.
function queryOf(site, { row, few }, { weights, allowed, tokens, keys }) {
  const n = allowed.length / keys.length;
  const last = n - 1;
  if (/^\d+$/.test(row)) return Math.min(Number(row), last);
  if (row in { first: 0, middle: 0, last: 0 }) return { first: 0, middle: last >> 1, last }[row];
  const rows = Array.from({ length: n }, (_, i) => i);
  const lineOf = (i) => weights.subarray(i * keys.length, (i + 1) * keys.length);
  const most = rows.map((i) => firstLargest(lineOf(i)));
  const largest = rows.map((i) => lineOf(i)[most[i]]);
  const nOpen = rows.map((i) => allowed.subarray(i * keys.length, (i + 1) * keys.length).reduce((a, b) => a + b, 0));
  const least = Math.min(few, Math.max(...nOpen));
  const [wholeRows, wholeKeys] = [tokens, keys].map((each) => isWhole(site, each));
  let good = rows;
  const holds = [
    (i) => isWord(tokens[i], 1),
    (i) => nOpen[i] >= least,
    (i) => isWord(keys[most[i]], 1),
  ];
  const prefers = [(i) => isWord(tokens[i], 2), (i) => wholeRows[i], (i) => wholeKeys[most[i]]];
  for (const [tests, enough] of [[holds, 1], [prefers, 2]]) {
    for (const test of tests) {
      const both = good.filter(test);
      if (both.length >= enough) good = both;
    }
  }
  const divided = bestOf(good, (i) => -Math.abs(largest[i] - 0.5));
  if (row === "divided" || good.length < 2) return divided;
  return bestOf(good.filter((i) => i !== divided), (i) => largest[i]);
}

const bestOf = (places, value) => places.reduce((a, b) => (value(b) > value(a) ? b : a));

export function firstLargest(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) if (values[i] > values[best]) best = i;
  return best;
}

const isWord = ({ special, piece }, n) => !special && (piece.match(LETTER)?.length ?? 0) >= n;

// Whether each token makes a word by itself.
function isWhole({ words }, tokens) {
  const whole = [];
  for (const group of words.groups(tokens)) for (const i of group) whole[i] = group.length === 1;
  return whole;
}

// Names of words, as viz/labels.py and viz/lessons/riddle.py give them.

export function numbered(names) {
  const counts = new Map();
  const isTwice = (name) => names.indexOf(name) !== names.lastIndexOf(name);
  return names.map((name) => {
    counts.set(name, (counts.get(name) ?? 0) + 1);
    return isTwice(name) ? `${name} #${counts.get(name)}` : name;
  });
}

// Each piece by the word that it is in: the word itself, or "n in didn't".
export function inWords({ words }, { names }, tokens) {
  return words.groups(tokens).flatMap((group) => {
    const those = group.map((i) => tokens[i]);
    const word = words.text(those);
    const signs = [...word];
    const whole = signs.length <= names.most ? word : `${signs.slice(0, names.most - 1).join("")}…`;
    return those.map((token) => {
      const piece = words.bareLabel(token);
      if (piece === word) return word;
      const isSpace = those.length > 1 && words.isSpace(token.piece);
      return filled(isSpace ? names.space : names.inWord, { piece, word: whole });
    });
  });
}

function ofGroups(site, of, tokens, groups) {
  const names = inWords(site, of, tokens);
  return groups.map((group) =>
    group.length > 1 ? site.words.text(group.map((i) => tokens[i])) : names[group[0]]);
}
