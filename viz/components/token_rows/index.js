// Two lines of tokens. Pointing at one, or moving to it with the arrow keys, announces it.

import { mounted } from "../kit/mounted.js";
import {
  announcePointing,
  announceToken,
  applyPalette,
  directionOf,
  element,
  inWords,
  markPointed,
  onToken,
  setWordPiece,
} from "../kit/page.js";
import { rove, takeKey } from "../kit/roving.js";
import { follow } from "../kit/scene.js";
import { showLarge } from "../kit/sight.js";
import { accepts, tell } from "../kit/sync.js";
import { unpack } from "../kit/unpack.js";
import { announcePin, onCards } from "../kit/word_cards.js";
import { tellWorth } from "../kit/worth.js";
import { createAlignment, drawAlignment, pointLines } from "./alignment.js";
import { createTint, drawTint } from "./tint.js";
import { followTyping } from "./typing.js";

// The signs of tokens, by their classes: the meaning of each; that of the last stands above the target.
const SIGNS = { parted: "looks at another word than it needs", lost: "" };

const IDLE = 1000; // ms without a letter until what nobody has asked for is asked for

const SEEN = ".chip:not(.silent)";

// Not a picture: nobody copies it as a figure.
export default mounted("token_rows", create, update);

function create(root, sync) {
  const typing = followTyping();
  announcePointing(root);
  root.onclick = (event) => pin(view, event);
  root.onkeydown = (event) => {
    if (!event.target.closest(".chip")) return; // what is chosen beside the tokens
    if (event.key === "Enter" || event.key === " ") {
      pin(view, event);
      takeKey(event);
    } else rove(event, [...event.target.closest(".tokens").querySelectorAll(SEEN)], "row");
  };
  root.addEventListener("focusin", ({ target: { dataset } }) => {
    if (dataset.position) announceToken(dataset.side, Number(dataset.position));
  });
  root.addEventListener("focusout", ({ target }) => announceToken(target.dataset.side, null));
  const silence = [
    onToken((token) => {
      markPointed(root, token);
      pointLines(view.lines, token);
    }),
    onCards((cards) => {
      view.late = cards; // of these tokens, or of those that come back when what is typed is dropped
      if (cards.of === view.nonce) mark(view);
    }),
  ];
  const dispose = () => {
    silence.forEach((end) => end());
    view.lines.dispose();
    clearTimeout(view.idle);
    tellWorth(root, undefined);
    typing.end();
  };
  const view = { root, sync, typing, dispose, name: "off", isAligned: false, late: null };
  view.marks = createMarks(root);
  view.lost = createLost();
  view.key = element("span", "key signs dim");
  view.key.dir = "ltr"; // the words are English, whatever the tokens are
  view.tint = createTint((name) => {
    tell(sync, "tint", name);
    view.name = name;
    mark(view);
  });
  view.lines = createAlignment(root, (isOn) => {
    tell(sync, "alignment", isOn);
    view.isAligned = isOn;
    mark(view);
  });
  return view;
}

function update(view, { nonce, palette, pinned, signs, awaited, judges, address, tint, alignment, payload }) {
  const { root, sync, typing } = view;
  typing.listen(address);
  applyPalette(root, palette);
  if (nonce !== view.nonce) {
    view.nonce = root.dataset.nonce = nonce;
    const { header } = unpack(payload);
    view.header = header;
    view.lines.token = {}; // it was of other tokens
    keepHeight(view);
    const sides = ["source", "target"].filter((side) => header[side].length);
    root.replaceChildren(...sides.flatMap((side, i) => rows(side, header, header.titles[i])));
  }
  // A preview of an edit is of the same text: what the server says of its line holds.
  const text = JSON.stringify(view.header.source);
  if (sync.isServer || text !== view.text) view.judges = judges;
  view.text = text;
  if (accepts(sync, "tint", tint)) view.name = tint;
  if (accepts(sync, "alignment", alignment)) view.isAligned = alignment;
  Object.assign(view, { palette, pinned, signs });
  const ask = () => view.late?.of !== nonce && typing.awaitCards(awaited === "lost");
  clearTimeout(view.idle);
  if (awaited === "lost") view.idle = setTimeout(ask, IDLE);
  else if (awaited) ask();
  mark(view);
}

// The rows of what is read are no lower for what is written anew: the page below keeps its place.
function keepHeight(view) {
  const { root, header } = view;
  const { width, height } = root.getBoundingClientRect();
  const of = `${width} ${JSON.stringify(header.source)}`;
  root.style.minHeight = of === view.of ? `${height}px` : "";
  view.of = of;
}

// What stands over the tokens: pins, signs, the tint, and the lines between them.
function mark(view) {
  const { root, header, palette, pinned, tint, name: measure, lines, isAligned } = view;
  const held = new Set(pinned.map(String));
  const given = view.signs ?? (view.late?.of === view.nonce ? view.late.signs : null);
  const marks = given?.marks ?? [];
  const signs = new Map(marks.map(([side, position, ...sign]) => [`${side},${position}`, sign]));
  const { activeElement } = root.getRootNode();
  for (const node of root.querySelectorAll(".chip")) {
    const { side, position } = node.dataset;
    const place = `${side},${position}`;
    const [name, reason] = signs.get(place) ?? ["", ""];
    node.setAttribute("aria-pressed", String(held.has(place)));
    node.title = reason;
    for (const each of Object.keys(SIGNS)) node.classList.toggle(each, each === name);
  }
  explain(view);
  sayLost(view, given?.lost ?? []);
  const asked = root.querySelector(".chip.parted") ? "≠ ? " : ""; // who sees the sign finds what it means
  Object.assign(view.marks, { textContent: asked || "marks", ariaLabel: `${asked}marks` });
  tellWorth(root, given?.worth ?? null);
  drawTint(tint, root, header, measure, palette);
  drawAlignment(lines, header, isAligned, pinned);
  root.querySelector(".tokens")?.append(view.key);
  if (root.querySelector(".key")) root.querySelector(".side").append(view.marks);
  // What is put in its place again loses the focus by that.
  if (activeElement?.isConnected) activeElement.focus({ preventScroll: true });
}

// On a phone what signs mean, and what else may be drawn, is below the words until it is asked for.
function createMarks(root) {
  const button = element("button", "marks", "marks");
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  button.onclick = (event) => {
    button.setAttribute("aria-expanded", String(root.classList.toggle("open")));
    event.stopPropagation(); // it is no word
  };
  return button;
}

// Their place is at the end of the first row, with or without signs, and as long as that line has room:
// no line is added when they come, and the page below keeps its place.
function explain({ root, key }) {
  const names = Object.keys(SIGNS).filter((name) => SIGNS[name] && root.querySelector(`.chip.${name}`));
  const parts = names.flatMap((name) => [element("span", `sample ${name}`), ` ${SIGNS[name]} `]);
  key.replaceChildren(...parts);
  key.title = names.map((name) => SIGNS[name]).join("; ");
}

// What left no trace, at the end of the source, or in a line below it where that has no room; a click says
// how that is known. Where it may come it has its place before: the page below keeps its own.
function createLost() {
  const node = element("div", "lost-line");
  node.setAttribute("role", "status");
  node.dir = "ltr"; // the sentence is English, whatever the tokens are
  return node;
}

function sayLost({ root, lost, judges }, [sentence = "", how = "", repair = "", tip = "", address = ""]) {
  const source = root.querySelector(".tokens.target") && [...root.querySelectorAll(".tokens.source")].at(-1);
  if (!source || !(judges || sentence)) lost.remove();
  else if (lost.parentElement !== source) source.append(lost);
  const said = JSON.stringify([sentence, address]);
  if (lost.dataset.said === said) return;
  lost.dataset.said = said;
  const button = element("button", "dim");
  button.type = "button";
  button.title = how;
  button.setAttribute("aria-expanded", "false");
  button.append(element("span", "sample lost"), element("span", "what", sentence), element("span", "how", how));
  button.onclick = () => button.setAttribute("aria-expanded", String(lost.classList.toggle("open")));
  lost.classList.remove("open");
  const mend = element("button", "mend", repair);
  Object.assign(mend, { type: "button", title: tip, onclick: () => follow(address) });
  lost.replaceChildren(...(sentence ? [button] : []), ...(address ? [mend] : []));
}

// With Shift the token is meant as a key, where it is a query, too.
function pin({ sync, nonce }, event) {
  const node = event.target.closest(".chip");
  if (!node) return;
  const { side, position } = node.dataset;
  const asKey = event.shiftKey;
  announcePin({ of: nonce, side, position: Number(position), asKey });
  tell(sync, "pin", { side, position: Number(position), key: asKey });
  showLarge(event);
}

// Of a pair each text has a line of its own.
function rows(side, { [side]: tokens, second }, title) {
  if (side !== "source" || !second) return row(side, tokens, title);
  return [
    ...row(side, tokens.slice(0, second), `${title} A`),
    ...row(side, tokens.slice(second), `${title} B`, second),
  ];
}

// first: the position of its first token.
function row(side, tokens, title, first = 0) {
  const list = element("div", `tokens ${side}`);
  list.dir = directionOf(tokens);
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", `${title}, ${tokens.length} tokens`);
  list.append(...inWords(tokens, tokens.map((piece, i) => chip(side, piece, first + i))));
  const stop = list.querySelector(SEEN);
  if (stop) stop.tabIndex = 0; // one stop a row; arrow keys go on from there
  return [element("div", "side dim", title), list];
}

function chip(side, piece, position) {
  const node = element("span", "chip");
  node.setAttribute("role", "button");
  Object.assign(node.dataset, { side, position });
  node.tabIndex = -1;
  setWordPiece(node, piece);
  return node;
}
