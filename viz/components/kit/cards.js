// The card of an underlined word: it opens where somebody points at the word, comes to it by key, or
// taps it; it goes when they leave, press Escape or touch something else. Words in it that have cards
// are underlined, too: a click, or Tab and Enter, shows their card in its place.

import { element } from "./page.js";
import { hasModifier, placeAfter, takeKey } from "./roving.js";
import { cardsAt, marked } from "./terms.js";

const SOON = 120; // ms that a pointer rests on a word before its card opens
const LINGER = 200; // ms in which it may go from the word to the card
const GAP = 6; // px between the two
const MARGIN = 8; // px to the window's edge

// view.illustrate(what, name): the small picture of a card as a node; null where there is none.
export function createCards(root, view) {
  const cards = { root, view, term: null, name: "", by: "", timer: 0 };
  cards.node = element("div", "card");
  Object.assign(cards.node, { id: "card", popover: "manual" });
  cards.node.setAttribute("role", "tooltip");
  cards.node.dataset.control = "";
  root.append(cards.node);
  // What is said anew while a card is open: its picture follows.
  cards.observer = new MutationObserver((changes) => {
    if (changes.some(({ target }) => !cards.node.contains(target))) fill(cards);
  });
  const silence = listen(cards);
  const end = () => {
    close(cards);
    silence();
  };
  return { update: () => cards.term && fill(cards), end };
}

function listen(cards) {
  const { root, node } = cards;
  const events = [
    [root, "pointerover", (event) => isMouse(event) && entered(cards, termOf(event.target))],
    [root, "pointerout", (event) => isMouse(event) && left(cards, event.relatedTarget)],
    [root, "focusin", ({ target }) => target.matches(".term:focus-visible") && !node.contains(target) && open(cards, target, "key")],
    [root, "focusout", (event) => focusLeft(cards, event)],
    [root, "click", ({ target }) => termOf(target) && pressed(cards, termOf(target))],
    [root, "keydown", (event) => event.target.matches(".term") && onKey(cards, event)],
    [window, "keydown", (event) => event.key === "Escape" && cards.term && escape(cards, event)],
    [window, "pointerdown", (event) => cards.term && touched(cards, event.composedPath())],
  ];
  for (const [target, name, heard] of events) target.addEventListener(name, heard, target === window);
  node.onpointerenter = () => clearTimeout(cards.timer);
  node.onpointerleave = () => cards.by === "pointer" && close(cards);
  return () => {
    for (const [target, name, heard] of events) target.removeEventListener(name, heard, target === window);
  };
}

// To the words of the card and back it stays open.
function focusLeft(cards, { target, relatedTarget }) {
  const { term, node } = cards;
  const isOwn = target === term || node.contains(target);
  if (isOwn && relatedTarget !== term && !node.contains(relatedTarget)) close(cards);
}

function isMouse({ pointerType }) {
  return pointerType !== "touch";
}

function termOf(node) {
  return node.closest(".term");
}

function isThere(term) {
  return term?.isConnected ?? false;
}

function entered(cards, term) {
  if (!term) return;
  clearTimeout(cards.timer);
  if (cards.node.contains(term)) return;
  if (term === cards.term) return;
  if (cards.term) open(cards, term, "pointer");
  else cards.timer = setTimeout(() => isThere(term) && open(cards, term, "pointer"), SOON);
}

function left(cards, to) {
  if (to && cards.node.contains(to)) return;
  clearTimeout(cards.timer);
  if (cards.by === "pointer") cards.timer = setTimeout(() => close(cards), LINGER);
}

function pressed(cards, term) {
  clearTimeout(cards.timer);
  if (cards.node.contains(term)) follow(cards, term);
  else if (term === cards.term && cards.by === "press") close(cards);
  else open(cards, term, "press");
}

// The card of a word in the card, in its place.
function follow(cards, { dataset: { word } }) {
  const hadFocus = cards.node.contains(cards.root.getRootNode().activeElement);
  if (hadFocus) cards.term.focus(); // which opens its own card
  Object.assign(cards, { name: word, by: "press" });
  fill(cards);
}

function touched(cards, path) {
  if (!path.includes(cards.term) && !path.includes(cards.node)) close(cards);
}

function escape(cards, event) {
  close(cards);
  takeKey(event);
}

// Enter opens and closes; arrow keys lead along the words of the picture, of which Tab finds one.
function onKey(cards, event) {
  if (hasModifier(event)) return;
  if (event.key === "Tab") {
    tab(cards, event);
    return;
  }
  const isInside = cards.node.contains(event.target);
  const every = [...(isInside ? cards.node : cards.root).querySelectorAll(".term")];
  const terms = every.filter((each) => each.checkVisibility() && cards.node.contains(each) === isInside);
  const to = placeAfter(event.key, terms.indexOf(event.target), terms.length, "both");
  if (event.key === "Enter" || event.key === " ") pressed(cards, event.target);
  else if (to !== undefined) terms[to].focus();
  else return;
  takeKey(event);
}

// From the word to those of its card, and from the last of them on.
function tab({ node, term }, event) {
  const inside = node.matches(":popover-open") ? [...node.querySelectorAll(".term")] : [];
  const to = inside[inside.indexOf(event.target) + 1];
  if (event.shiftKey || (event.target !== term && !inside.includes(event.target))) return;
  if (!to) {
    term.focus(); // and on, as Tab does
    return;
  }
  to.focus();
  takeKey(event);
}

function open(cards, term, by) {
  clearTimeout(cards.timer);
  Object.assign(cards, { by, name: term.dataset.word });
  if (cards.term !== term) {
    cards.term?.removeAttribute("aria-describedby");
    cards.term = term;
    term.setAttribute("aria-describedby", cards.node.id);
    cards.observer.observe(cards.root, { childList: true, characterData: true, subtree: true });
  }
  fill(cards);
}

function fill(cards) {
  const { node, term, view } = cards;
  const { name } = cards;
  const card = cardsAt(cards.root)?.querySelector(`[data-word="${name}"]`);
  if (!card || !isThere(term)) {
    close(cards);
    return;
  }
  const picture = view.illustrate?.(card.dataset.illustration, name);
  const copy = document.importNode(card, true);
  const said = copy.querySelector("p");
  said.replaceChildren(...marked(cards.root, said.textContent, { without: [name] }));
  if (picture) copy.append(picture);
  node.replaceChildren(...copy.childNodes);
  node.dataset.word = name;
  if (!node.matches(":popover-open")) node.showPopover();
  cancelAnimationFrame(cards.frame);
  stay(cards);
}

// The card stays with its word, whatever moves that: scrolling, or what the page draws above it.
function stay(cards) {
  if (!cards.term) return;
  place(cards);
  cards.frame = requestAnimationFrame(() => stay(cards));
}

// Below the word, or above it where there is more room: never over it.
function place(cards) {
  const { node, term } = cards;
  const at = term.getClientRects()[0];
  if (!at || at.bottom < 0 || at.top > window.innerHeight) {
    close(cards);
    return;
  }
  const [below, above] = [window.innerHeight - at.bottom, at.top].map((room) => room - GAP - MARGIN);
  node.style.maxHeight = `${Math.max(below, above)}px`;
  const { offsetWidth: width, offsetHeight: height } = node;
  const isBelow = height <= below || below >= above;
  const start = Math.min(at.left, document.documentElement.clientWidth - width - MARGIN);
  node.style.left = `${Math.max(MARGIN, start)}px`;
  node.style.top = `${isBelow ? at.bottom + GAP : at.top - GAP - height}px`;
}

function close(cards) {
  clearTimeout(cards.timer);
  cards.observer.disconnect();
  if (!cards.term) return;
  cards.term.removeAttribute("aria-describedby");
  Object.assign(cards, { term: null, name: "", by: "" });
  if (cards.node.isConnected) cards.node.hidePopover();
}
