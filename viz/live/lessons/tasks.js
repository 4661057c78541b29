// Tasks about a sentence that a learner typed: their truth, of the engine's numbers, and what is said
// of it in the words of viz/lessons/tasks. The sheets are as viz/lessons/sheet.py makes them.

import { evidenceOf } from "../engine/evidence.js";
import { callOf } from "../engine/inside.js";
import { metric } from "../payloads/metrics.js";
import { filled, fixed, grouped } from "../payloads/numbers.js";
import { weightsOf } from "../payloads/maps.js";
import { verdictOf } from "../payloads/verdict.js";
import { wordPiece } from "../payloads/words.js";
import { percentOf } from "./grade.js";
import { about, firstLargest, inWords, numbered, rowOf } from "./row.js";

const FEWEST = 5; // rows of a triangle that are all added up in words

// of: what Python says of the scene (viz/lessons/own.py). Returns { sheets }, or { why }: a sentence
// that says why nothing is asked of this text.
export function* ownTasks(open, answer, of) {
  const { site } = open;
  if (of.writesNothing && answer.targetIds.length < 2) return { why: of.writesNothing };
  const row = rowOf(site, answer, of);
  const sheets = [];
  for (const task of of.tasks) {
    const given = { open, site, answer, of, row, words: of.words[task.name] };
    const found = OF_EVIDENCE.includes(task.name) ? yield* evidenceIn(given) : null;
    const made = MADE[task.name](given, found);
    if (made.why) return made;
    sheets.push(sheetOf(site, of, row, task, made));
  }
  return { sheets };
}

// Of a task by its name: what it asks and says.
const MADE = {
  strongest,
  closed_cells: closedCells,
  least_sure: leastSure,
  unscaled,
  operations,
  needed_word: neededWord,
  spared,
};
const OF_EVIDENCE = ["needed_word", "spared"];

function sheetOf(site, of, row, { form, unit, decimals, ofRow }, made) {
  const { question, options = [], material = [], truth, isCount = false, ...sealed } = made;
  const toleranceOf = (value) =>
    isCount ? 0.5 : Math.max(of.near * Math.abs(value), of.times * 10 ** -decimals);
  const reasons = (made.reasons ?? []).filter(({ answer }) => answer !== null);
  const told = { truth, ...sealed, reasons };
  if (form === "number") {
    told.tolerance = toleranceOf(truth);
    told.reasons = reasons.map((each) => ({ ...each, tolerance: toleranceOf(each.answer) }));
  }
  const speaks = ofRow && row && question.includes(`‘${row.rowWord}’`);
  const name = row ? `${row.kind} ${row.layer} ${row.head} ${row.query}` : "";
  const rest = { row: name, ofRow, about: speaks ? about(site, of, row) : "" };
  return { form, question, unit, options, material, sealed: sealedIn(told), ...rest };
}

function sealedIn(value) {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

// The word that a row looks at most.

function strongest({ site, answer, of, row, words }) {
  const { ofWords, words: options, rowWord, isCross, groups, query } = row;
  const truth = firstLargest(ofWords);
  const got = (i) => percentOf(of.grading, ofWords[i]);
  const hints = options.map((word, i) => {
    if (i === truth) return "";
    return filled(words.hint, { word, got: got(i), side: words[truth < i ? "before" : "after"] });
  });
  const isOwn = !isCross && groups[truth].includes(query);
  const word = filled(isOwn ? words.itself : words.word, { word: options[truth] });
  const at = (place) => {
    const found = isCross ? -1 : groups.findIndex((group) => group.includes(place));
    return found < 0 ? null : found;
  };
  const mean = metric("previous", weightsOf(row.map, row.layer, row.head), row.map.n);
  const before = { head: row.headName, mean: percentOf(of.grading, mean) };
  return {
    question: filled(words.ask, { row: rowWord }),
    options,
    truth,
    right: [truth],
    hints,
    explanation: filled(words.explain, { row: rowWord, word, got: got(truth) }),
    reasons: [
      isCross ? translated(site, answer, row, words, truth) : { answer: null },
      { answer: at(query), says: words.own },
      { answer: at(query - 1), says: isCross ? "" : filled(words.previous, before) },
    ],
  };
}

// Where the last layer's heads look most on average in a row: of plain words, as it is no end.
function aligned({ answer, row }, query) {
  const { map, groups, keys } = row;
  const layer = map.numbers.length - 1;
  const isEnd = groups.map((group) => group.some((i) => map.keys[i].special));
  const heads = Array.from({ length: map.nHeads }, (_, head) => {
    const line = weightsOf(map, layer, head).subarray(query * keys, (query + 1) * keys);
    return groups.map((group) => group.reduce((sum, i) => sum + line[i], 0));
  });
  const mean = groups.map((_, i) => heads.reduce((sum, line) => sum + line[i], 0) / heads.length);
  const place = firstLargest(mean.map((value, i) => (isEnd[i] ? -1 : value)));
  return [place, heads.filter((line) => firstLargest(line) === place).length, answer];
}

function translated(site, answer, row, words, truth) {
  const [place, n] = aligned({ answer, row }, row.query);
  const groups = site.words.groups(row.all);
  const at = groups.findIndex((group) => group.includes(row.query));
  const before = at > 0 ? groups[at - 1].map((query) => aligned({ answer, row }, query)[0]) : [];
  const count = row.map.nHeads;
  const says = filled(words.translated, {
    word: row.words[place],
    row: row.rowWord,
    heads: `${grouped(count)} ${count === 1 ? words.head : words.heads}`,
    n,
    look: n === 1 ? words.looks : words.look,
    head: row.headName,
    why: before.includes(truth) ? words.follows : words.elsewhere,
  });
  return { answer: place, says };
}

// The cells of a map that the mask closes.

function closedCells({ row, words }) {
  const { allowed, keys, queries } = row;
  const closed = Array.from({ length: queries }, (_, i) =>
    allowed.subarray(i * keys, (i + 1) * keys).reduce((n, open) => n + 1 - open, 0));
  const truth = closed.reduce((a, b) => a + b, 0);
  const total = queries * keys;
  const isTriangle = queries > 1 && closed.every((n, i) => n === queries - 1 - i);
  const each = queries < FEWEST ? closed : [closed[0], closed[1], "…", 1, 0];
  return {
    question: words.ask,
    material: [[words.rows, String(queries)], [words.columns, String(keys)]],
    truth,
    isCount: true,
    hints: [filled(words.hint, { first: closed[0], last: closed.at(-1) })],
    explanation: filled(words.explain, {
      by_row: isTriangle ? filled(words.by_row, { sum: each.join(" + ") }) : "",
      n: grouped(truth),
      total: grouped(total),
    }),
    reasons: [
      { answer: total - truth, says: words.open },
      { answer: Math.floor(total / 2), says: words.half },
    ],
  };
}

// The word that the model was least sure of.

function leastSure({ site, answer, of, words }) {
  const options = numbered(inWords(site, of, answer.target));
  const probs = answer.logProbs.map((each) => Math.exp(each));
  const got = (value) => percentOf(of.grading, value);
  const truth = firstLargest(probs.map((each) => -each));
  const hints = options.map((word, i) => {
    if (i === truth) return "";
    const n = probs.filter((each) => each < probs[i]).length;
    const others = filled(n === 1 ? words.one : words.several, { n });
    return filled(words.hint, { word, got: got(probs[i]), others });
  });
  const mean = probs.reduce((a, b) => a + b, 0) / probs.length;
  const explanation = filled(words.explain, { word: options[truth], got: got(probs[truth]), mean: got(mean) });
  return { question: words.ask, options, truth, right: [truth], hints, explanation };
}

// A weight without the scale.

function unscaled({ open, answer, of, row, words }) {
  const { ofTokens, tokens, openKeys, query, head } = row;
  const call = callOf(open, answer, row.kind, row.layer);
  const size = call.q.length / (row.map.nHeads * row.queries);
  const at = (part, n, i) => part.subarray((head * n + i) * size, (head * n + i + 1) * size);
  const own = at(call.q, row.queries, query);
  const products = openKeys.map((i) => at(call.k, row.keys, i).reduce((sum, each, d) => sum + each * own[d], 0));
  const place = firstLargest(ofTokens);
  const top = Math.max(...products);
  const powers = products.map((each) => Math.exp(each - top));
  const without = powers[place] / powers.reduce((a, b) => a + b, 0);
  const now = ofTokens[place];
  const truth = Math.abs(without - now) < of.same ? 1 : 2 * Number(without > now);
  const got = (value) => percentOf(of.grading, value);
  const hint = filled(words.hint, { root: fixed(1 / call.scale, 1) });
  return {
    question: filled(words.ask, { word: tokens[place], got: got(now), row: row.rowWord }),
    options: of.options,
    truth,
    right: [truth],
    hints: of.options.map((_, i) => (i === truth ? "" : hint)),
    explanation: filled(words.explain, { without: got(without), now: got(now) }),
    reasons: [
      { answer: truth === 2 ? 0 : null, says: words.less },
      { answer: truth === 2 ? 1 : null, says: words.same },
      { answer: truth === 1 ? 2 : null, says: words.more },
    ],
  };
}

// A recurrent layer's operations beside those of self-attention.

function operations({ open, of, row, words }) {
  const [n, d] = [row.keys, open.model.config.d_model];
  const truth = d / n;
  const [nText, dText] = [grouped(n), grouped(d)];
  return {
    question: words.ask,
    material: [[words.n, nText], [words.d, dText], ...of.formulas],
    truth,
    hints: [filled(words.hint, { n: grouped(n ** 2 * d) })],
    explanation: filled(words.explain, { d: dText, n: nText, ratio: fixed(truth, 1) }),
    reasons: [{ answer: 1 / truth, says: words.other }],
  };
}

// What written words need: viz/lessons/riddles.py.

function* evidenceIn({ open, site, answer }) {
  const bare = (tokens) => site.words.bare(tokens);
  const evidence = yield* evidenceOf(open, answer, site.lost, bare);
  const spell = (tokens) => wordPiece(tokens).replaceAll("▁", " ").trim();
  const of = (tokens, text) => site.words.groups(tokens).map((group) => text(group.map((i) => tokens[i])));
  const [source, target] = [of(answer.source, bare), of(answer.target, spell)];
  const verdicts = target.map((_, i) => verdictOf(site, evidence, i, target, source));
  const [read, written] = [numbered(source), numbered(target)];
  const numbers = answers(read);
  return { evidence, source, target, verdicts, read, written, numbers, options: numbers.map((i) => read[i]) };
}

// The numbers of words that can be chosen: no signs, and no special token.
function answers(names) {
  const isPlain = (word) => /[\p{L}\p{N}]/u.test(word) && !word.startsWith("</");
  return names.map((_, i) => i).filter((i) => isPlain(names[i].split(" #")[0]));
}

function neededWord({ site, words }, found) {
  const { evidence, target, verdicts, read, written, numbers, options } = found;
  const held = site.verdict.kinds[3];
  const needed = (i) => {
    const { kind, needs, also } = verdicts[i];
    const names = kind === held ? written : read;
    return needs === null ? [] : [needs, ...also].map((each) => names[each]);
  };
  const decides = (i) => verdicts[i].kind !== held && options.includes(needed(i)[0]);
  const places = answers(written).filter(decides);
  if (!places.length) return { why: words.none };
  const asked = places.reduce((a, b) => (evidence.logProbs[b] < evidence.logProbs[a] ? b : a));
  const all = needed(asked);
  const right = options.map((_, i) => i).filter((i) => all.includes(options[i]));
  const looks = numbers.indexOf(verdicts[asked].looksAt ?? -1);
  const word = target[asked];
  const hints = options.map((option, i) => {
    if (right.includes(i)) return "";
    const cost = fixed(evidence.hidden[asked][numbers[i]], 2);
    const at = looks < 0 || looks === i ? "" : filled(words.at, { word: options[looks] });
    return filled(words.hint, { word: option, cost, at });
  });
  const nats = fixed(verdicts[asked].nats, 2);
  return {
    question: filled(words.ask, { word }),
    options,
    truth: options.indexOf(all[0]),
    right,
    hints,
    explanation: filled(words.explain, { word: all[0], of: word, nats }),
    reasons: [{ answer: looks < 0 ? null : looks, says: filled(words.looked_at, { word }) }],
  };
}

function spared({ words }, { evidence, source, target, numbers, options }) {
  if (!options.length) return { why: words.none };
  const worth = numbers.map((number) => {
    const costs = evidence.hidden.map((row) => row[number]);
    const at = firstLargest(costs);
    return { cost: Math.max(0, costs[at]), word: target[at] };
  });
  const truth = firstLargest(worth.map(({ cost }) => -cost));
  const hints = options.map((name, i) => {
    if (i === truth) return "";
    return filled(words.hint, { name, word: worth[i].word, cost: fixed(worth[i].cost, 2) });
  });
  const read = numbered(source);
  const lost = (evidence.lost ?? []).flat().map((i) => read[i]);
  return {
    question: words.ask,
    options,
    truth,
    right: [truth],
    hints,
    explanation: filled(words.explain, {
      name: options[truth],
      cost: fixed(worth[truth].cost, 2),
      lost: lost.length ? filled(words.lost, { words: lost.join(", ") }) : words.none_lost,
    }),
  };
}
