// The sentence field while somebody types: a preview of each text is asked for, and when they rest it
// is entered, so that the address holds what is on the screen.

import { SEEK_EVENT } from "../kit/offers.js";
import { AIM_EVENT, DROPPED_EVENT, PREVIEW_EVENT, TRY_EVENT, TYPED } from "../kit/preview.js";
import { WISH_EVENT } from "../kit/word_cards.js";
import { AGAIN, ANSWERED, SOON, announcePreview, isRunning, isTyping, partsOf, post } from "./asking.js";
import { aimed, tried } from "./clicks.js";
import { seek } from "./seeking.js";
import { wished } from "./wish.js";

const FIELD = 'input[aria-label="Sentence"]';
const REST = 500; // ms after the last letter until it is entered
const LATE = 300; // ms in which a page that was sent is surely drawn
const LONGEST = 400; // ms that Enter waits for a preview that is on its way

// Returns listen(address), to be told where previews are, awaitCards(), to have the tokens marked, and end().
export function followTyping() {
  const typing = { address: "", field: null, before: null, wanted: null, latest: null };
  Object.assign(typing, { asked: 0, answered: 0, timer: 0, rest: 0, isEntered: false });
  Object.assign(typing, { answer: null, isHeld: false }); // of Enter
  Object.assign(typing, { aim: null, ahead: null, isTrying: false, wish: null, isAwaited: false, isUnasked: false }); // of clicks
  typing.isSeeking = false;
  const events = [
    [document, "focusin", ({ target }) => isField(target) && (typing.before = target.value)],
    [document, "input", (event) => typed(typing, event)],
    [document, "compositionend", (event) => typed(typing, event)],
    [document, "keydown", (event) => pressed(typing, event)],
    [document, "focusout", ({ target }) => isField(target) && left(typing)],
    [window, "popstate", () => wentBack(typing)],
    [window, DROPPED_EVENT, () => askLater(typing, LATE)],
    [window, TRY_EVENT, (event) => tried(typing, event)],
    [window, AIM_EVENT, ({ detail }) => aimed(typing, detail)],
    [window, WISH_EVENT, () => wished(typing)],
    [window, SEEK_EVENT, () => seek(typing)],
  ];
  for (const [node, name, heard] of events) node.addEventListener(name, heard, true);
  const observer = new MutationObserver(() => ran(typing));
  const app = document.querySelector("[data-test-script-state]");
  if (app) observer.observe(app, { attributeFilter: ["data-test-script-state"] });
  typed(typing, { target: document.activeElement }); // before anybody listened
  return {
    listen: (address) => listen(typing, address),
    awaitCards: (isUnasked) => {
      Object.assign(typing, { isUnasked, isAwaited: true });
      wished(typing);
    },
    end: () => {
      typing.wanted = null;
      clearTimeout(typing.timer);
      clearTimeout(typing.rest);
      typing.aim = null;
      typing.address = "";
      observer.disconnect();
      for (const [node, name, heard] of events) node.removeEventListener(name, heard, true);
    },
  };
}

// What was typed while there was nobody to ask is asked for now.
function listen(typing, address) {
  const isFirst = !typing.address;
  typing.address = address;
  if (isFirst) askAgain(typing);
  seek(typing);
}

function isField(node) {
  return node instanceof HTMLInputElement && node.matches(FIELD);
}

// Enter and Escape lead out of the field, where keys are those of the page, and Enter back into it. On
// a phone its keyboard goes with it.
function pressed(typing, event) {
  const { key, target, isTrusted, isComposing } = event;
  if (isField(target) && key === "Enter") entered(typing, event);
  else if (isField(target) && key === "Escape" && !isComposing) leave(target);
  else if (target === document.body && key === "Enter" && isTrusted) document.querySelector(FIELD)?.focus();
}

// Once Streamlit has heard of the key. Tab goes on from the field all the same.
function leave(field) {
  setTimeout(() => field.blur());
}

function typed(typing, { target, isComposing, isTrusted = true }) {
  if (!isField(target) || isComposing || !isTrusted) return;
  Object.assign(typing, { field: target, wanted: target.value, isEntered: false });
  ask(typing);
  clearTimeout(typing.rest);
  typing.rest = setTimeout(() => rested(typing), REST);
}

// As if they had pressed Enter, but it is no entry of Back.
function rested({ field, wanted, isEntered }) {
  if (isEntered || !wanted?.trim() || field.value !== wanted || document.activeElement !== field) return;
  pressEnter(field);
}

function pressEnter(field) {
  const key = { key: "Enter", code: "Enter", keyCode: 13, which: 13, charCode: 13, bubbles: true, cancelable: true };
  for (const name of ["keydown", "keypress", "keyup"]) field.dispatchEvent(new KeyboardEvent(name, key));
}

function entered(typing, event) {
  const { target, isTrusted, isComposing } = event;
  Object.assign(typing, { isEntered: true, before: target.value });
  window[TYPED] = isTrusted || typing.isHeld ? null : target.value;
  if (!isTrusted || isComposing) return;
  if (typing.answer) hold(typing, event);
  else leave(target);
}

// What was pasted and entered in one go is on its way already, and would wait for Streamlit, whose run
// keeps browser and server from it: so it is shown first, and entered then.
async function hold(typing, event) {
  event.preventDefault();
  event.stopPropagation();
  const { target: field } = event;
  const text = field.value;
  await Promise.race([typing.answer, new Promise((go) => setTimeout(go, LONGEST))]);
  if (field.value !== text || document.activeElement !== field) return; // whoever left it has entered it
  typing.isHeld = true;
  pressEnter(field);
  typing.isHeld = false;
  leave(field);
}

// Whoever leaves the field has entered it; what is chosen elsewhere, previews on their way do not know.
function left(typing) {
  Object.assign(typing, { wanted: null, isEntered: true });
}

// What was not entered yet belongs to the page that is left, and not to the one that is gone to.
function wentBack(typing) {
  const { field, before, wanted, isEntered } = typing;
  clearTimeout(typing.rest);
  Object.assign(typing, { wanted: null, isEntered: true });
  announcePreview(typing, null);
  if (wanted === null || isEntered || before === null || !field.isConnected) return;
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value"); // as React sees it
  set.call(field, before);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

// What was entered is on the page, or could not be: no preview has a say any more.
function ran(typing) {
  typing.ahead = null; // the page may have other pictures now
  if (typing.wish?.isPosted) typing.wish = null; // and other words: it may ask for theirs
  if (!typing.isEntered || isRunning()) return;
  window[PREVIEW_EVENT] = null; // a picture that comes from now on has its own of what was entered
  setTimeout(() => {
    if (!typing.isEntered || isRunning()) return;
    Object.assign(typing, { wanted: null, isEntered: false });
    announcePreview(typing, null);
  }, LATE);
}

// Each letter is posted at once, with all that differs from what was entered. The server answers the
// newest: one that waited is replaced, and nothing older is shown after something newer.
function ask(typing) {
  if (!typing.address) return; // pictures wait for Enter
  const answer = (typing.answer = show(typing).then(() => {
    if (typing.answer === answer) typing.answer = null;
  }));
}

async function show(typing) {
  const [text, number] = [typing.wanted, ++typing.asked];
  const { status, bytes } = await post(typing.address, { text });
  if (number < typing.answered) return;
  // Somebody left the field, went back or took an example; or the page is on its way.
  const isOld = text !== typing.wanted;
  if (typing.field.value !== typing.wanted || (isOld && typing.isEntered)) return;
  if (status === AGAIN) {
    if (number === typing.asked) askLater(typing, SOON);
    return;
  }
  typing.answered = number;
  announcePreview(typing, status === ANSWERED ? partsOf(bytes) : null);
  await painted();
}

// Two frames later, as the last picture comes a frame after the others.
const painted = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(go))));

function askLater(typing, ms) {
  clearTimeout(typing.timer);
  typing.timer = setTimeout(() => askAgain(typing), ms);
}

function askAgain(typing) {
  if (isTyping(typing)) ask(typing);
}
