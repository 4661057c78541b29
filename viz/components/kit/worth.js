// What hiding a word of the source does to a written one: said below the sentence of a picture that
// shows how much the one looks at the other. The rows of tokens know it, once the evidence is there.

import { element } from "./page.js";

const KNOWN = "headscopeWorth"; // of each pair of rows; also for a picture that comes later
const WORTH_EVENT = "headscope:worth";
const SAME = 1.05; // times as likely: below it hiding changes nothing to speak of
const MANY = 1e6;

// worth: as viz/components/token_rows/token_rows.py; null: not known yet; undefined: the rows are gone.
export function tellWorth(rows, worth) {
  const known = (window[KNOWN] ??= new Map());
  if (known.get(rows) === worth) return;
  if (worth === undefined) known.delete(rows);
  else known.set(rows, worth);
  window.dispatchEvent(new Event(WORTH_EVENT));
}

export function onWorth(listener) {
  window.addEventListener(WORTH_EVENT, listener);
  return () => window.removeEventListener(WORTH_EVENT, listener);
}

// The nodes of what is said of a cell, a sentence or two; none where nothing is known of its two words, or
// where other rows of tokens may be meant.
export function worthOf(cell) {
  const [worth, ...others] = window[KNOWN]?.values() ?? [];
  if (!worth || others.length || !cell?.sides?.writes) return [];
  const [word, hidden] = [wordAt(cell, worth, "target", 0), wordAt(cell, worth, "source", 1)];
  if (word === undefined || hidden === undefined) return [];
  const costs = worth.nats[word];
  const [read, written] = [worth.words.source, worth.words.target[word]];
  const most = costs.indexOf(Math.max(...costs));
  const isNeeded = costs[hidden] >= Math.max(worth.least, costs[most] - worth.least); // as verdict.py
  const needsOther = costs[most] >= worth.least && !isNeeded;
  const parts = [["own", "Hiding ", quoted(read[hidden]), ...effect(costs[hidden], written)]];
  if (needsOther) {
    const needs = [" needs ", quoted(read[most]), " most", nats(costs[most]), "."];
    parts.push(["other", " Of the text, ", quoted(written), ...needs]);
  }
  return parts.map(([name, ...nodes]) => {
    const part = element("span", name);
    part.append(...nodes);
    return part;
  });
}

// The word of a cell's row (axis 0) or column on one side of the page.
function wordAt({ at, sides }, { word_at }, side, axis) {
  const position = (axis ? sides.columns : sides.rows)[side]?.indexOf(at[axis]) ?? -1;
  return position < 0 ? undefined : word_at[side][position];
}

function quoted(text) {
  return element("q", "", text);
}

// Costs are nats of log-probability: their exponential is how many times less likely.
function effect(cost, written) {
  const times = Math.exp(Math.abs(cost));
  const word = quoted(written);
  if (times < SAME) return [" leaves ", word, " as likely", nats(cost), "."];
  const than = cost > 0 ? "less" : "more";
  return [" makes ", word, ` ${amount(times)} times ${than} likely`, nats(cost), "."];
}

function amount(times) {
  if (times >= MANY) return "over a million";
  if (times < 10) return times.toFixed(1);
  return Number(times.toPrecision(3)).toLocaleString("en", { maximumFractionDigits: 0 });
}

function nats(cost) {
  return element("span", "nats", ` (${cost.toFixed(2).replace("-", "−")} nats)`);
}
