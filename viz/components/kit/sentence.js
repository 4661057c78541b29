// The one sentence above a picture: what the cell that is pointed at says, else another that matters.
// Its words come from viz/sentence.py, and are filled in here.

import { bare, element } from "./page.js";
import { isOnStage } from "./room.js";
import { marker } from "./terms.js";
import { onWorth, worthOf } from "./worth.js";

export const OFF = "This head is off: what it sees is left out";
const SENTENCE_EVENT = "headscope:sentence";
const LONG = 90; // characters of a wording that may take two lines on a wide screen, too
const TIGHT = 112; // characters that have room in the line below a sentence
const LARGE = 1e6; // numbers from here on are written with an exponent

// words: { seen, masked }; cell: { row, column, layer, head, value } with pieces for row and column,
// and where its place in the map is known, at: [row, column], with the `sides` of the map.
// why: which cell this is; isPointed: whether somebody asked for it, who then also hears it.
export function saidOf(words, cell, why, isPointed = false) {
  return { parts: cell ? fill(words, cell) : [], cell, why, isPointed, isLong: words?.seen.length > LONG };
}

// Text, and pieces as they came: a piece is data, whatever it looks like.
function fill({ seen, masked }, cell) {
  const given = { ...cell, value: amount(cell.value) };
  const template = Number.isNaN(cell.value) ? masked : seen;
  return template.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? given[part] : part));
}

// The measure of a picture, by name, where its sentence does not say it: it is explained elsewhere.
export function unsaid({ sentence, lens }) {
  return sentence.seen.toLowerCase().includes(lens.title.toLowerCase()) ? [] : [lens.name];
}

// As viz/sentence.py writes it: what is not 0 is never shown as 0.
export function amount(value) {
  const size = Math.abs(value);
  if (size > 0 && size < 0.0005) return value > 0 ? "below 0.001" : "above −0.001";
  if (size === Infinity) return value > 0 ? "infinite" : "−infinite";
  if (size >= LARGE) return value.toExponential(3).replace("-", "−").replace(/\+(\d)$/, "+0$1");
  return size > 0 ? value.toFixed(3).replace("-", "−") : "0";
}

export function textOf({ parts }) {
  return parts.map((part) => (Array.isArray(part) ? bare(part) : part)).join("");
}

// A line of fixed height. A picture that stands beside and has none says its sentence here, too.
// without: words that are explained elsewhere in the picture.
export function createSentence(without = []) {
  const line = { node: element("div", "sentence"), text: element("p"), own: null, other: null, without };
  line.node.append(line.text);
  const heard = ({ detail }) => {
    line.other = detail;
    write(line);
  };
  window.addEventListener(SENTENCE_EVENT, heard);
  const silence = onWorth(() => weigh(line));
  line.end = () => {
    silence();
    window.removeEventListener(SENTENCE_EVENT, heard);
  };
  return line;
}

export function say(line, said) {
  line.own = said;
  if (said.isPointed) line.other = null;
  write(line);
}

// For the line of another picture; null: nothing more to say.
export function announceSentence(said) {
  window.dispatchEvent(new CustomEvent(SENTENCE_EVENT, { detail: said }));
}

function write(line) {
  const said = line.other ?? line.own;
  if (!said) return;
  line.cell = said.cell;
  const key = JSON.stringify([said.parts, said.why]);
  if (key === line.written) return weigh(line);
  line.written = key;
  line.text.classList.toggle("long", said.isLong);
  const isSpoken = said.isPointed && said === line.own;
  line.text.setAttribute("aria-live", isSpoken ? "polite" : "off");
  const shape = JSON.stringify(said.parts.map((part, i) => (isGiven(i) ? Array.isArray(part) : part)));
  if (shape !== line.shape) arrange(line, said.parts);
  line.shape = shape;
  said.parts.filter((_, i) => isGiven(i)).forEach((part, i) => {
    line.given[i].textContent = Array.isArray(part) ? bare(part) : part;
  });
  line.why.textContent = said.why;
  weigh(line);
}

// Beside the reason why this cell is shown, or in its place where there is no room for both. A wall has
// the sentence alone.
function weigh({ text, why, worth, cell }) {
  if (!worth) return;
  worth.replaceChildren(...(isOnStage() ? [] : worthOf(cell)));
  text.classList.toggle("weighed", worth.textContent !== "");
  text.classList.toggle("tight", why.textContent.length + worth.textContent.length > TIGHT);
}

// Between two texts of a wording stands what is put into it.
function isGiven(i) {
  return i % 2 === 1;
}

// Elements are kept while only what is put in changes: one of them may have the focus, or a card.
function arrange(line, parts) {
  const mark = marker(line.node, { without: line.without, stops: true });
  const nodes = parts.map((part, i) => (isGiven(i) ? [element(Array.isArray(part) ? "em" : "span")] : mark(part)));
  line.given = nodes.filter((_, i) => isGiven(i)).flat();
  line.why = element("span", "why dim");
  const words = element("span", "said");
  words.append(...nodes.flat());
  line.worth = element("span", "worth dim");
  line.worth.dataset.control = ""; // a figure has what its picture shows
  const aside = element("span", "aside");
  aside.append(line.why, " ", line.worth);
  line.text.replaceChildren(words, " ", aside);
}
