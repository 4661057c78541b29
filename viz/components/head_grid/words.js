// What is said of a head and of the scale, in text.

import { announceSentence, say, saidOf, textOf } from "../kit/sentence.js";
import { element, short, within } from "../kit/page.js";
import { sayReading } from "../kit/reading.js";
import { lawOf } from "../kit/shade.js";
import { marker, term } from "../kit/terms.js";
import { indexOf } from "./order.js";

const UNDEFINED = "—"; // as transformer/analysis/metrics/metric.py

// Of the head pointed at, else of the selected one: the sentence, and the numbers below the grid.
export function describe(grid, cell) {
  const shown = cell ?? grid.section.cells[indexOf(grid.section, grid.place)];
  if (!shown) return;
  if (grid.speaks) say(grid.sentence, said(shown, cell !== null));
  else announceSentence(cell && said(cell, true));
  grid.described = shown;
  const parts = numbersOf(shown).map(({ name, title, text, why }, i) => {
    const part = element("span");
    part.append(term(name, title, i === 0), " ", element("strong", "", text), why && ` (${why})`);
    return part;
  });
  if (!shown.section.header.metrics.length) parts.push(element("span", "", "one map per layer, so no numbers of single heads"));
  grid.numbers.replaceChildren(element("span", "", fullNameOf(shown)), ...parts.flatMap((part) => [" ", part]));
  keepWhole(grid);
}

// A number that has no room is left out, not cut.
export function keepWhole({ numbers }) {
  const parts = [...numbers.children];
  for (const part of parts) part.hidden = false;
  const cut = parts.filter((part) => part.offsetTop - numbers.offsetTop >= numbers.clientHeight - 2);
  for (const part of cut) part.hidden = true;
}

function said(cell, isPointed = false) {
  const { header, strongest, values } = cell.section;
  const { index, layer, head } = cell;
  const at = [strongest[2 * index], strongest[2 * index + 1]];
  const [row, column] = [header.rows[at[0]], header.columns[at[1]]];
  if (!row) return saidOf(null, null, "Nothing to show.", isPointed);
  const why = `The strongest cell of this ${header.lens.per_head ? "head" : "layer"}`;
  const { layers, sides } = header;
  const found = { row, column, layer: layers[layer], head, value: values[index], at, sides };
  return saidOf(header.sentence, found, isPointed ? `Pointed at: ${why.toLowerCase()}` : why, isPointed);
}

// The same for who cannot see it.
export function spoken(cell) {
  const numbers = numbersOf(cell).map(({ title, text, why }) => `${title} ${text}${why && ` (${why})`}`);
  const { shown, ranks } = cell.section;
  const { by } = shown;
  const rank = by ? [`rank ${ranks[cell.index] + 1} by ${metricOf(cell.section, by).title}`] : [];
  const done = cell.dataset.edited ? `, ${cell.dataset.edited}` : "";
  return `${fullNameOf(cell)}${done}: ${textOf(said(cell))} ${[...numbers, ...rank].join(", ")}`.trim();
}

// Where there are other kinds, with its own.
function fullNameOf(cell) {
  const { isOnly, header } = cell.section;
  return `${isOnly ? "" : `${header.title} `}${nameOf(cell)}`;
}

export function nameOf({ section: { header }, layer, head }) {
  const name = `L${header.layers[layer]}`;
  return header.lens.per_head ? `${name} H${head}` : `${name}, all heads`;
}

// { name, title, text } of the metrics that are named with every head of this kind.
function numbersOf({ section, index }) {
  return section.header.named.map((metric) => {
    const { name, title, texts } = metricOf(section, metric);
    return { name, title, text: texts[index], why: texts[index] === UNDEFINED ? "no row counts" : "" };
  });
}

export function metricOf(section, name) {
  return section.header.metrics.find((metric) => metric.name === name);
}

// What the shades mean, how heads are sorted, and which are left out.
export function explain({ section, legend, reading }) {
  const { shown, header } = section;
  const [scale, lines] = shown.show === "maps" ? mapScale(section) : metricScale(section);
  legend.replaceChildren(...sorted(section), ...scale, reading.node);
  const notes = shown.show === "maps" ? header.notes : []; // a metric is of tokens, however they are read
  sayReading(reading, [...lines, ...meaning(section), ...notes]);
}

function mapScale(section) {
  const { header, scale, palette, own } = section;
  const { lens, block, masked } = header;
  const ends = [lens.scale === "signed" ? -lens.bound : 0, lens.bound].map(short);
  const [low, high] = own ? [ends[0] === "0" ? "0" : "−", "each head's largest"] : ends;
  const mark = marker(section.node, { only: [lens.name, "mask"] });
  const parts = [...mark(`${lens.title} ${low} `), ramp(scale), ` ${high}`];
  const lines = ["each square is a head: rows are words that look, columns are words that are looked at"];
  if (lens.scale !== "signed") lines.push(lawOf(palette));
  if (masked) parts.push(" · ", element("span", "masked"), ...mark(" masked"));
  if (Math.max(...block) > 1) {
    const which = lens.scale === "signed" ? "farthest from 0" : "largest";
    lines.push(`a pixel shows the ${which} of ${block[0]} × ${block[1]} cells or more`);
  }
  return [parts, lines];
}

function metricScale(section) {
  const metric = metricOf(section, section.shown.show);
  const { name, title, texts, explain: what } = metric;
  if (metric.bound) {
    const most = short(metric.bound);
    return [[`${title} −${most} `, ramp(section.difference), ` ${most} ${metric.unit} · ${what}`], []];
  }
  const most = texts[section.ranking(section.shown.show)[0]];
  return [[term(name, title), " 0 ", ramp(section.palette.scale), ` ${most} · ${what}`], []];
}

export function sorted(section) {
  const { by, sort, top } = section.shown;
  if (by === null || (sort === "layer" && !top)) return [];
  const title = within(metricOf(section, by).title);
  const n = section.cells.length;
  if (top && top < n) return [`The best ${top} of ${n} heads by ${title}. `];
  return [`Sorted by ${title}, largest first. `];
}

// What heads are sorted by, where no square shows it: then the scale says it.
function meaning(section) {
  const { by, show } = section.shown;
  const metric = by !== null && by !== show ? metricOf(section, by) : null;
  return metric ? [`${within(metric.title)}: ${metric.explain}`.replace(/\.$/, "")] : [];
}

function ramp(scale) {
  const node = element("span", "ramp");
  node.style.background = `linear-gradient(to right, ${scale.join(", ")})`;
  return node;
}
