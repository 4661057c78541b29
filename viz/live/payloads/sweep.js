// The table and the file of a sweep of heads, as viz/figures/sweeps.py and viz/export.py make them, the
// table painted as viz/painters/table_html.py does.

import { replaced } from "../engine/change.js";
import { totalsOf } from "../engine/sweep.js";
import { number } from "./numbers.js";
import { pack } from "./pack.js";
import { general, rooted, shaded } from "./tables.js";

// answer, sweep: of viz/live/engine, the sweep as far as it is. of: { sort, kind, theme }, in the words of
// an address. Links are choices, as page/tables.js has them.
export function sweepTable(site, answer, sweep, { sort, kind, theme }) {
  const own = site.sweep;
  const words = columnsOf(site, answer);
  const measure = own.measures[answer.classes ? "classes" : "words"];
  const orders = ["layer", "change", ...words.map((_, i) => `word ${i}`)];
  const at = Math.max(0, orders.includes(sort) ? orders.indexOf(sort) : 1);
  const rows = inOrder(rowsOf(site, answer, sweep, kind), orders[at]);
  const largest = Math.max(0, ...rows.flatMap(({ changes }) => changes.map(Math.abs)));
  const titles = [own.off, own.total, ...words];
  const head = titles.map((title, i) => {
    const link = { "data-state": "", href: `?sweep_sort=${encodeURIComponent(orders[i])}`, title: own.sort_by };
    const look = { ...(i > 1 ? { class: "word" } : {}), ...(i === at ? { "aria-sort": "ascending" } : {}) };
    return ["th", { scope: "col", ...look }, ["a", link, title]];
  });
  const isTitled = rows.length * words.length <= own.titled;
  const most = rows.reduce((a, b) => (Math.abs(b.total) > Math.abs(a) ? b.total : a), 0);
  const digits = { total: decimalsOf(most), tip: Math.max(3, decimalsOf(largest)) };
  const body = rows.map((row, i) => {
    const before = orders[at] === "layer" && rows[i - 1];
    const isFirst = before && (before.kind !== row.kind || before.layer !== row.layer);
    const cells = row.changes.map((change, j) => {
      return changeCell(site, change, isTitled ? words[j] : "", largest, words.length, digits.tip);
    });
    return [
      "tr",
      isFirst ? { class: "first" } : {},
      ["th", { scope: "row" }, ["a", { "data-state": "", href: row.address }, row.title]],
      ["td", { "data-value": general(row.total) }, signed(row.total, digits.total)],
      ...cells,
      ["td", { class: "text" }, ...writtenOf(row, sweep.plain, measure, own.short)],
    ];
  });
  const last = ["th", { scope: "col", class: "text" }, measure.result];
  const table = ["table", {}, ["thead", {}, ["tr", {}, ...head, last]], ["tbody", {}, ...body]];
  const tall = rows.length > own.tall ? " tall" : "";
  const look = `data rows${tall}${words.length > site.limits.wide ? " wide" : ""}`;
  const region = { class: look, tabindex: "0", role: "region", "aria-label": own.name };
  const line = ["div", { class: "line" }, ["div", {}, ["figure", region, table]]];
  const legend = legendOf(site, measure, largest, theme);
  const { style } = site.themes[theme].card;
  return pack({ style, elements: [["div", { class: "tables" }, legend, line]] });
}

// What stands above the columns: the words that are written, or the classes.
function columnsOf({ words, sweep }, { classes, target, targetWords }) {
  if (classes) return classes.map(({ name }) => name);
  return targetWords.map((group) => words.bare(group.map((i) => target[i])) || sweep.line_break);
}

function rowsOf(site, { classes, targetWords }, sweep, kind) {
  const groups = classes ? classes.map((_, i) => [i]) : targetWords;
  const totals = totalsOf(sweep);
  const all = sweep.changes.map((changes, i) => {
    const head = sweep.heads[i];
    const [place, layer, numbered] = head.split(":")[1].split(".");
    return {
      kind: place,
      layer,
      title: site.sweep.heads[head],
      address: `?page=explore&edits=${head}&tool=heads&kind=${place}&layer=${layer}&head=${numbered}`,
      changes: groups.map((group) => group.reduce((sum, at) => sum + changes[at], 0)),
      total: totals[i],
      written: sweep.written.get(head),
    };
  });
  return kind in site.kinds ? all.filter((row) => row.kind === kind) : all;
}

// What loses most stands first; stable.
function inOrder(rows, order) {
  if (order === "layer") return rows;
  const word = Number(order.slice("word ".length));
  const value = (row) => (order === "change" ? row.total : row.changes[word]);
  return [...rows].sort((a, b) => value(a) - value(b));
}

function changeCell(site, change, word, largest, nWords, digits) {
  const hasNumber = nWords <= site.limits.wide && Math.abs(change) >= site.sweep.least;
  const text = hasNumber ? signed(change, Math.abs(change) >= 9.95 ? 1 : 2) : "";
  const tip = word && `${word} ${signed(change, digits)}`;
  return shaded(site, { text, tip, value: change, place: rooted(change, largest) });
}

// Words that went and words that came in their place; nothing, where that is not known yet.
function writtenOf({ written }, plain, { same }, short) {
  if (!written) return [];
  const changes = replaced(plain, written).map(([[from, to], [begin, end]]) => {
    const [old, fresh] = [plain.slice(from, to).join(" "), written.slice(begin, end).join(" ")];
    return [old, old || !fresh ? fresh : `+ ${fresh}`];
  });
  if (!changes.length) return [["span", {}, same]];
  const parts = changes.flatMap(([old, fresh], i) => [
    ...(i ? [" · "] : []),
    ...(old ? [["del", {}, old]] : []),
    ...(old && fresh ? [" → "] : []),
    ...(fresh ? [["ins", {}, fresh]] : []),
  ]);
  const length = [...changes.map((pair) => pair.filter(Boolean).join(" → ")).join(" · ")].length;
  return length > short ? [["details", {}, ["summary", {}, ...parts]]] : parts;
}

function legendOf({ sweep, themes }, { less, more, unit, legend }, largest, theme) {
  const n = decimalsOf(largest);
  return [
    "div",
    { class: "legend" },
    `${less} ${signed(-largest, n)} `,
    ["span", { class: "ramp", style: themes[theme].card.ramp }],
    ` ${signed(largest, n)} ${unit}${more ? `, ${more}.` : "."} ${legend} `,
    ["span", { "data-control": "" }, sweep.hint],
  ];
}

// A change with its sign; one that rounds to 0 has none.
function signed(value, digits) {
  const text = number(value, digits);
  return value > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

// Two decimals, and more where even the largest would look like 0.
function decimalsOf(largest) {
  const size = Math.abs(largest);
  return size > 0 && size < 0.05 ? Math.min(6, 1 - Math.floor(Math.log10(size))) : 2;
}

// A line for each head and each token, or class, that it changes: as CSV.
export function sweepRows(site, answer, sweep) {
  const { classes, read, produced, targetIds } = answer;
  const start = read.length - targetIds.length;
  const query = wordsAt(site, read);
  const written = wordsAt(site, produced);
  const places = classes
    ? classes.map(({ name }) => [name])
    : targetIds.map((_, i) => {
        const at = start + i;
        return [at, read[at].piece, query[at], produced[at].piece, written[at]];
      });
  const lines = sweep.changes.flatMap((changes, i) => {
    const head = sweep.heads[i];
    const text = sweep.written.get(head)?.join(" ") ?? "";
    return changes.map((change, at) => {
      return [head, ...places[at], general(sweep.logProbs[at], 9), general(change, 9), text];
    });
  });
  return [site.sweep.columns, ...lines].map((line) => `${line.map(csvCell).join(",")}\r\n`).join("");
}

// The word that each token is a part of, without the space before it.
function wordsAt({ words }, tokens) {
  const result = [];
  for (const group of words.groups(tokens)) {
    const own = group.map((i) => tokens[i]);
    const text = words.bare(own) || own.map(({ piece }) => piece).join("");
    for (const i of group) result[i] = text;
  }
  return result;
}

const COMPUTED = /^['=+\-@\t\r]/; // what a spreadsheet would compute, as transformer/files/foreign_text.py
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

function csvCell(cell) {
  const text = String(cell);
  const safe = COMPUTED.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
