// The card of the written word that is pinned. All cards of a text are known after one evidence: they are
// asked for while somebody points at a word, so that a pin draws one without waiting for the server.

import { grow } from "../kit/elements.js";
import { mounted } from "../kit/mounted.js";
import { applyPalette, onToken } from "../kit/page.js";
import { onCards, onPin, wishForCards } from "../kit/word_cards.js";
import { accepts, hold } from "../kit/sync.js";
import { unpack } from "../kit/unpack.js";

export default mounted("word_card", create, update);

function create(root, sync) {
  const view = { root, sync, of: "", pins: [], card: null, all: null, early: [], drawn: null };
  const silence = [
    onToken(({ side, position }) => {
      if (side === "target" && position !== null && position >= 0 && !view.all) wishForCards();
    }),
    onPin(({ of, side, position, asKey }) => {
      if (side !== "target" || of !== view.of || asKey) return; // asKey: it is a column that is pinned
      hold(sync, "pins", position); // until the server has heard of it
      if (view.all) pin(view, position);
      else view.early.push(position);
      draw(view);
    }),
    onCards((cards) => {
      if (!belongs(view, cards)) return;
      know(view, cards);
      for (const position of view.early.splice(0)) pin(view, position);
      draw(view);
    }),
  ];
  return Object.assign(view, { dispose: () => silence.forEach((end) => end()) });
}

function update(view, { of, palette, pins, payload }) {
  applyPalette(view.root, palette);
  Object.assign(view, { of, theme: palette.name, card: unpack(payload).header.card });
  if (view.all && !belongs(view, view.all)) know(view, null);
  if (accepts(view.sync, "pins", pins)) Object.assign(view, { pins, early: [] });
  draw(view);
}

function know(view, cards) {
  view.all = cards;
  view.root.dataset.cards = cards?.cards.length ?? 0;
}

function belongs({ of, theme }, cards) {
  return cards.of === of && cards.theme === theme;
}

// The pins as viz/state/focus.py has them after this one.
function pin(view, position) {
  const row = view.all.rows[position] ?? -1;
  if (row < 0) return;
  const others = view.pins.filter((each) => each !== row);
  view.pins = others.length < view.pins.length ? others : [...others, row];
}

// What is pinned here and not yet heard of is newer than the server's card.
function draw(view) {
  const { root, sync, all, card, early } = view;
  const isAhead = "pins" in sync.own && all && !early.length;
  const next = isAhead ? cardOf(all, view.pins.at(-1)) : card;
  const text = JSON.stringify(next);
  if (text === view.drawn) return;
  view.drawn = text;
  root.replaceChildren(...(next ?? []).map(grow));
  host(root)?.toggleAttribute("data-empty", !next);
  for (const cell of root.querySelectorAll("td.marked")) bringInSight(cell, cell.closest("figure"));
}

// The word that is needed, where a table is wider than the window; the page stays where it is.
function bringInSight(cell, scroller) {
  const [own, room] = [cell, scroller].map((node) => node.getBoundingClientRect());
  scroller.scrollLeft += (own.left + own.right - room.left - room.right) / 2;
}

function cardOf({ style, cards, opens }, row) {
  return row in opens ? [style, ...cards[opens[row]]] : null;
}

// What Streamlit puts around it, which leaves a gap even where nothing is drawn.
function host(root) {
  return root.getRootNode().host?.closest('[class*="st-key-word-card"]');
}
