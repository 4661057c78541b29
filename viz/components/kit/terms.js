// Words that are explained where they stand: underlined once, with a card that cards.js opens.

import { element } from "./page.js";

// The cards that viz/glossary.py puts beside a component; null where there are none.
export function cardsAt(node) {
  return node.getRootNode().querySelector?.("template.cards")?.content ?? null;
}

// A word of these letters. stops: whether Tab does; from there arrow keys lead to the others.
export function term(name, text, stops = false) {
  const node = element("span", "term", text);
  node.dataset.word = name;
  node.setAttribute("role", "button");
  node.tabIndex = stops ? 0 : -1;
  return node;
}

// mark(text) -> nodes in which each word of the component is underlined where it comes first, over
// all texts that are marked. at: a node of the component. only, without: by name, which words.
export function marker(at, { only = null, without = [], stops = false } = {}) {
  const left = new Map();
  for (const { dataset } of cardsAt(at)?.children ?? []) {
    const isMeant = (!only || only.includes(dataset.word)) && !without.includes(dataset.word);
    if (isMeant) left.set(dataset.word, patternsOf(dataset.spellings));
  }
  let isFirst = stops;
  return (text) => {
    const nodes = [];
    let rest = text;
    while (rest) {
      const found = firstOf(left, rest);
      if (!found) break;
      if (found.start) nodes.push(rest.slice(0, found.start));
      nodes.push(term(found.name, found.text, isFirst));
      isFirst = false;
      left.delete(found.name);
      rest = rest.slice(found.start + found.text.length);
    }
    return rest ? [...nodes, rest] : nodes;
  };
}

export function marked(at, text, options) {
  return marker(at, options)(text);
}

// Whole words only, whatever their case; the spelling that is named first is preferred.
function patternsOf(spellings) {
  return spellings.split("|").map((text) => {
    const plain = text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return new RegExp(`(?<![\\p{L}\\p{N}])${plain}(?![\\p{L}\\p{N}])`, "iu");
  });
}

function firstOf(left, text) {
  let first = null;
  for (const [name, patterns] of left) {
    const found = patterns.map((pattern) => pattern.exec(text)).find(Boolean);
    if (found && (!first || found.index < first.start)) {
      first = { name, start: found.index, text: found[0] };
    }
  }
  return first;
}
