// The cards of all written words, and what the tokens show of the evidence: as viz/causes/card.py
// and viz/causes/tables.py make them, painted as viz/painters/table_html.py does.

import { openMap, sidesOf } from "./maps.js";
import { filled, grouped, number, percent, rounded } from "./numbers.js";
import { pack } from "./pack.js";
import { rooted, shaded } from "./tables.js";
import { verdictOf } from "./verdict.js";
import { wordPiece } from "./words.js";

// answer, evidence: of viz/live/engine. of: the nonce of the token rows that the cards belong to;
// kind, reading: of the picture whose rows are pinned.
export function wordCards(site, answer, evidence, { of, theme, kind, reading }) {
  const texts = textsOf(site, answer, evidence);
  const isSpecial = (group) => group.every((i) => answer.source[i].special);
  const left = reading.special === "shown" ? [] : texts.sourceGroups.map(isSpecial);
  const rows = sidesOf(openMap(site, answer, kind, reading)).rows.target;
  const opens = {};
  const wordOf = texts.targetGroups.flatMap((group, word) => group.map(() => word));
  for (const row of rows) if (row >= 0) opens[row] = wordOf[rows.indexOf(row)];
  const cards = texts.target.map((_, word) => cardOf(site, evidence, { ...texts, isLeftOut: left }, word, theme));
  const { style } = site.themes[theme].card;
  return pack({ of, theme, rows, opens, style, cards, signs: signsOf(site, evidence, texts) });
}

// The words of both sides, and the verdict on each that is written.
function textsOf(site, { source, target, token }, evidence) {
  const { words } = site;
  const spell = (tokens) => wordPiece(tokens).replaceAll("▁", " ").trim();
  const [sourceGroups, targetGroups] = [source, target].map((tokens) => words.groups(tokens));
  const ofSource = sourceGroups.map((group) => words.bare(group.map((i) => source[i])));
  const ofTarget = targetGroups.map((group) => spell(group.map((i) => target[i])));
  const foils = targetGroups.map((group) => {
    return group.map((i) => spell([token(evidence.runnerUps[i])])).join(" + ");
  });
  const verdicts = ofTarget.map((_, word) => verdictOf(site, evidence, word, ofTarget, ofSource));
  return { source: ofSource, target: ofTarget, sourceGroups, targetGroups, foils, verdicts };
}

// What stands over the tokens, and what a picture's sentence says of words.

function signsOf({ words, verdict: { parted, least }, trace }, evidence, texts) {
  const { source, target, sourceGroups, targetGroups, verdicts } = texts;
  const lost = evidence.lost ?? [];
  const partedMarks = verdicts.flatMap(({ kind, text }, word) => {
    if (!parted.includes(kind)) return [];
    return [["target", targetGroups[word].at(-1), "parted", words.visible(text)]];
  });
  const lostMarks = lost.flatMap((span) => {
    const says = `${lostSentence(words, trace, source, [span])} ${howKnown(trace, [span])}`;
    const places = span.flatMap((word) => sourceGroups[word]);
    return places.map((place) => ["source", place, "lost", says]);
  });
  const shown = (all) => all.map((word) => words.visible(word).trim());
  const numbers = (groups) => groups.flatMap((group, word) => group.map(() => word));
  return {
    marks: [...partedMarks, ...lostMarks],
    worth: {
      words: { source: shown(source), target: shown(target) },
      word_at: { source: numbers(sourceGroups), target: numbers(targetGroups) },
      nats: evidence.hidden.map((row) => row.map((cost) => rounded(cost, 2))),
      least,
    },
    lost: lost.length ? [lostSentence(words, trace, source, lost), howKnown(trace, lost)] : [],
  };
}

function lostSentence(words, trace, source, lost) {
  const texts = lost.map((span) => span.map((word) => source[word]).join(" "));
  const spans = texts.map((text) => `“${words.visible(text)}”`);
  if (!spans.length) return "";
  const last = spans.pop();
  const all = spans.length ? filled(trace.several, { first: spans.join(", "), last }) : last;
  return filled(trace.lost, { words: all });
}

function howKnown(trace, lost) {
  return filled(trace.known, { it: lost.length === 1 ? trace.one : trace.many });
}

// A card as elements for viz/components/kit/elements.js: [name, attributes, ...children].

function cardOf(site, evidence, texts, word, theme) {
  const { words, card, trace } = site;
  const { hidden, cut, prefix, weights, logProbs, withoutSource, lost } = evidence;
  const { source, target, foils, verdicts, isLeftOut } = texts;
  const { kind, text, looksAt, needs, also } = verdicts[word];
  const visible = (all) => all.map((each) => words.visible(each));
  const own = words.visible(target[word]);
  const [read, before] = [visible(source), visible(target.slice(0, word))];
  const held = word ? prefix[word].slice(0, word) : [];
  const costsOfAll = [...hidden[word], ...cut[word], ...held];
  const most = costsOfAll.reduce((sum, cost) => Math.max(sum, Math.abs(cost)), 0);
  const [agrees, , , heldByPrefix] = site.verdict.kinds;
  const isHeld = kind === heldByPrefix;
  const costs = (row, all, marked = []) => {
    return row.map((cost, i) => costCell(site, cost, all[i], most, marked.includes(i), all.length));
  };
  const rows = [
    [card.looks, weights[word].map((weight, i) => {
      return weightCell(site, weight, read[i], i === looksAt, read.length);
    })],
    [card.cut, costs(cut[word], read)],
    [card.hidden, costs(hidden[word], read, isHeld ? [] : [needs, ...also])],
  ];
  const says = lostSentence(words, trace, source, lost ?? []);
  const foot = [word ? "" : card.foot, says].filter(Boolean).join(" ");
  const lines = [tableOf(filled(card.name, { own }), card.source, read, rows, foot, site)];
  if (word) {
    const replaced = [[card.replaced, costs(held, before, isHeld ? [needs] : [])]];
    const name = filled(card["name of prefix"], { own });
    lines.push(tableOf(name, card.prefix, before, replaced, card.foot, site));
  }
  const hides = isLeftOut[looksAt] ? filled(site.plain.hides, { seen: read[looksAt] }) : "";
  const title = filled(card.verdict, { kind: kind[0].toUpperCase() + kind.slice(1), text });
  const plain = plainOf(site, verdicts[word], target, source, word, isLeftOut);
  const remark = [
    card.log_prob,
    number(logProbs[word]),
    card.without,
    number(withoutSource[word]),
    card.gives,
    number(logProbs[word] - withoutSource[word]),
    card[foils[word].includes(" + ") ? "runner-ups" : "runner-up"],
    filled(card.foils, { foils: words.visible(foils[word]) }),
    ...(kind === agrees ? [card["not right"]] : []),
  ];
  const body = [
    ["p", { class: "title" }, words.visible(title) + hides],
    ["p", { class: "plain" }, words.visible(plain)],
    ["p", { class: "remark" }, remark.join(" ")],
    legendOf(site, own, most, theme),
    ...lines.map((line) => ["div", { class: "line" }, line]),
  ];
  return [["div", { class: "tables" }, ...body]];
}

// The verdict for somebody who has never seen one: `plain_verdict` of viz/causes/tables.py.
function plainOf({ plain, verdict }, { kind, looksAt, needs, nats, also }, target, source, word, isLeftOut) {
  const own = target[word];
  if (needs === null) return filled(plain.nothing, { own });
  const isHeld = kind === verdict.kinds[3];
  const needed = (isHeld ? target : source)[needs];
  const before = isHeld ? plain.before : "";
  const says = filled(plain.needs, { own, needed, before, times: timesOf(plain, nats) });
  if ([needs, ...also].includes(looksAt) && !isHeld) return says + plain.too;
  if (looksAt === null) return says;
  return says + (isLeftOut[looksAt] ? plain.hidden : filled(plain.looks, { seen: source[looksAt] }));
}

function timesOf(plain, nats) {
  const times = Math.exp(rounded(nats, 2));
  if (times >= plain.most) return plain.many;
  return times < 10 ? number(times, 1) : grouped(rounded(Number(times.toPrecision(3)), 0));
}

function legendOf({ card, themes }, own, most, theme) {
  return [
    "div",
    { class: "legend" },
    `${filled(card.low, { low: number(-most) })} `,
    ["span", { class: "ramp", style: themes[theme].card.ramp }],
    ` ${filled(card.high, { high: number(most) })} ${filled(card.legend, { own })}`,
  ];
}

function tableOf(name, title, words, rows, foot, { limits }) {
  const head = words.map((word) => ["th", { scope: "col", class: "word" }, word]);
  const body = rows.map(([text, cells]) => ["tr", {}, ["th", { scope: "row" }, text], ...cells]);
  const above = ["thead", {}, ["tr", {}, ["td", {}], ...head]];
  const table = ["table", {}, above, ["tbody", {}, ...body]];
  const look = `data rows${words.length > limits.wide ? " wide" : ""}`;
  const region = { class: look, tabindex: "0", role: "region", "aria-label": name };
  const figure = ["figure", region, ["figcaption", {}, title], table];
  return ["div", {}, figure, ...(foot ? [["p", {}, foot]] : [])];
}

function weightCell(site, weight, word, isMarked, nWords) {
  const { card, limits, numbers } = site;
  const text = weight >= limits.shown && nWords <= limits.wide ? percent(numbers, weight, 0) : "";
  const tip = filled(card.weight, { word, share: percent(numbers, weight) });
  return shaded(site, { text, tip, value: weight, place: rooted(weight, 1), isMarked });
}

function costCell(site, cost, word, most, isMarked, nWords) {
  const { card, limits } = site;
  const text = Math.abs(cost) >= limits.shown && nWords <= limits.wide ? number(cost) : "";
  const tip = filled(card.cost, { word, nats: number(cost, 3) });
  return shaded(site, { text, tip, value: cost, place: rooted(cost, most), isMarked });
}
