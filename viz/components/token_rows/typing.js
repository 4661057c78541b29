// The sentence field while somebody types: a preview of each text is asked for, and when they rest it
// is entered, so that the address holds what is on the screen.

import { DROPPED_EVENT, PREVIEW_EVENT, TRY_EVENT, TYPED } from "../kit/preview.js";
import { unpack } from "../kit/unpack.js";

const REST = 500; // ms after the last letter until it is entered
const SOON = 100; // ms after which a server that draws the page is asked once more
const TRIES = 5; // of a click, while the server draws the page of the one before
const LATE = 300; // ms in which a page that was sent is surely drawn
const ANSWERED = 200;
const AGAIN = 202; // as viz/ui/live_preview.py answers; else what was entered stays

// Returns listen(address), to be told where previews are, and end().
export function followTyping() {
  const typing = { address: "", field: null, before: null, wanted: null, latest: null };
  Object.assign(typing, { asked: 0, answered: 0, timer: 0, rest: 0, isEntered: false });
  const events = [
    [document, "focusin", ({ target }) => isField(target) && (typing.before = target.value)],
    [document, "input", (event) => typed(typing, event)],
    [document, "compositionend", (event) => typed(typing, event)],
    [document, "keydown", (event) => isField(event.target) && event.key === "Enter" && entered(typing, event)],
    [document, "focusout", ({ target }) => isField(target) && left(typing)],
    [window, "popstate", () => wentBack(typing)],
    [window, DROPPED_EVENT, () => askLater(typing, LATE)],
    [window, TRY_EVENT, (event) => tried(typing, event)],
  ];
  for (const [node, name, heard] of events) node.addEventListener(name, heard, true);
  const observer = new MutationObserver(() => ran(typing));
  const app = document.querySelector("[data-test-script-state]");
  if (app) observer.observe(app, { attributeFilter: ["data-test-script-state"] });
  typed(typing, { target: document.activeElement }); // before anybody listened
  return {
    listen: (address) => listen(typing, address),
    end: () => {
      typing.wanted = null;
      clearTimeout(typing.timer);
      clearTimeout(typing.rest);
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
}

function isField(node) {
  return node instanceof HTMLInputElement && node.getAttribute("aria-label") === "Sentence";
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
  const key = { key: "Enter", code: "Enter", keyCode: 13, which: 13, charCode: 13, bubbles: true, cancelable: true };
  for (const name of ["keydown", "keypress", "keyup"]) field.dispatchEvent(new KeyboardEvent(name, key));
}

function entered(typing, { target, isTrusted }) {
  Object.assign(typing, { isEntered: true, before: target.value });
  window[TYPED] = isTrusted ? null : target.value;
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
  const isRunning = () => !document.querySelector('[data-test-script-state="notRunning"]');
  if (!typing.isEntered || isRunning()) return;
  setTimeout(() => {
    if (!typing.isEntered || isRunning()) return;
    Object.assign(typing, { wanted: null, isEntered: false });
    announcePreview(typing, null);
  }, LATE);
}

// parts: the bytes that each picture is to show, by key; null: what the server said last.
// The last comes a frame later: drawn at once, all of them would miss the first.
function announcePreview(typing, parts) {
  const tell = (detail) => window.dispatchEvent(new CustomEvent(PREVIEW_EVENT, { detail }));
  typing.latest = parts;
  window[PREVIEW_EVENT] = parts; // for a picture that comes later
  if (!parts) {
    tell(null);
    return;
  }
  const keys = Object.keys(parts);
  const last = keys.pop();
  tell(Object.fromEntries(keys.map((key) => [key, parts[key]])));
  const later = () => typing.latest === parts && tell({ [last]: parts[last] });
  requestAnimationFrame(() => setTimeout(later));
}

// Each letter is posted at once, with all that differs from what was entered. The server answers the
// newest: one that waited is replaced, and nothing older is shown after something newer.
async function ask(typing) {
  if (!typing.address) return; // pictures wait for Enter
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
}

// Somebody changed the model with a click. The run that follows takes over what is made here.
async function tried(typing, event) {
  const isTyping = typing.wanted !== null && !typing.isEntered;
  if (!typing.address || isTyping) return; // it is told at once
  event.preventDefault();
  const { changes, tellThem } = event.detail;
  const number = ++typing.asked;
  let { status, bytes } = await post(typing.address, changes);
  for (let i = 0; i < TRIES && status === AGAIN && number === typing.asked; i++) {
    await new Promise((wake) => setTimeout(wake, SOON));
    ({ status, bytes } = await post(typing.address, changes));
  }
  if (status === ANSWERED && number === typing.asked) {
    Object.assign(typing, { answered: number, wanted: null, isEntered: true });
    announcePreview(typing, partsOf(bytes));
  }
  tellThem();
}

function askLater(typing, ms) {
  clearTimeout(typing.timer);
  typing.timer = setTimeout(() => askAgain(typing), ms);
}

function askAgain(typing) {
  if (typing.wanted !== null && !typing.isEntered) ask(typing);
}

async function post(address, changes) {
  try {
    const answer = await fetch(address, { method: "POST", body: JSON.stringify(changes) });
    return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) };
  } catch {
    return { status: 0 }; // the server is gone, as Streamlit says
  }
}

function partsOf(bytes) {
  const { header, arrays } = unpack(bytes);
  return Object.fromEntries(header.keys.map((key, i) => [key, arrays[i]]));
}
