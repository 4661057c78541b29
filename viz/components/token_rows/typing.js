// The sentence field while somebody types: each text is asked for as a draft, one after the other.

import { DRAFT_EVENT, DROPPED_EVENT } from "../kit/drafts.js";
import { unpack } from "../kit/unpack.js";

const AGAIN = 100; // ms after which a busy server is asked once more
const LATE = 300; // ms in which a page that was sent is surely drawn
const [ANSWERED, BUSY] = [200, 202]; // as viz/ui/drafts.py answers; else what was entered stays

// Returns listen(address), to be told where drafts are, and end().
export function followTyping() {
  const typing = { address: "", field: null, wanted: null, latest: null };
  Object.assign(typing, { isAsking: false, isEntered: false });
  const events = [
    [document, "input", (event) => typed(typing, event)],
    [document, "compositionend", (event) => typed(typing, event)],
    [document, "keydown", ({ target, key }) => isField(target) && key === "Enter" && entered(typing)],
    [document, "focusout", ({ target }) => isField(target) && left(typing)],
    [window, "popstate", () => wentBack(typing)],
    [window, DROPPED_EVENT, () => setTimeout(() => askAgain(typing), LATE)],
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

function typed(typing, { target, isComposing }) {
  if (!isField(target) || isComposing) return;
  Object.assign(typing, { field: target, wanted: target.value, isEntered: false });
  if (!typing.isAsking) ask(typing);
}

function entered(typing) {
  typing.isEntered = true;
}

// Whoever leaves the field has entered it; what is chosen elsewhere, drafts on their way do not know.
function left(typing) {
  Object.assign(typing, { wanted: null, isEntered: true });
}

function wentBack(typing) {
  typing.wanted = null;
  announceDraft(typing, null);
}

// What was entered is on the page, or could not be: no draft has a say any more.
function ran(typing) {
  const isRunning = () => !document.querySelector('[data-test-script-state="notRunning"]');
  if (!typing.isEntered || isRunning()) return;
  setTimeout(() => {
    if (!typing.isEntered || isRunning()) return;
    Object.assign(typing, { wanted: null, isEntered: false });
    announceDraft(typing, null);
  }, LATE);
}

// parts: the bytes that each picture is to show, by name; null: what the server said last.
// The last comes a frame later: drawn at once, all of them would miss the first.
function announceDraft(typing, parts) {
  const tell = (detail) => window.dispatchEvent(new CustomEvent(DRAFT_EVENT, { detail }));
  typing.latest = parts;
  window[DRAFT_EVENT] = parts; // for a picture that comes later
  if (!parts) {
    tell(null);
    return;
  }
  const names = Object.keys(parts);
  const last = names.pop();
  tell(Object.fromEntries(names.map((name) => [name, parts[name]])));
  const later = () => typing.latest === parts && tell({ [last]: parts[last] });
  requestAnimationFrame(() => setTimeout(later));
}

async function ask(typing) {
  if (!typing.address) return; // pictures wait for Enter
  typing.isAsking = true;
  const text = typing.wanted;
  const { status, bytes } = await fetchDraft(typing.address, text);
  typing.isAsking = false;
  const isOld = text !== typing.wanted;
  // Somebody left the field, went back or took an example; or the page is on its way.
  if (typing.field.value !== typing.wanted || (isOld && typing.isEntered)) return;
  if (status !== BUSY) announceDraft(typing, status === ANSWERED ? partsOf(bytes) : null);
  if (status === BUSY) setTimeout(() => askAgain(typing), AGAIN);
  else if (isOld) ask(typing);
}

function askAgain(typing) {
  if (!typing.isAsking && typing.wanted !== null && !typing.isEntered) ask(typing);
}

async function fetchDraft(address, text) {
  try {
    const answer = await fetch(address, { method: "POST", body: text });
    return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) };
  } catch {
    return { status: 0 }; // the server is gone, as Streamlit says
  }
}

function partsOf(bytes) {
  const { header, arrays } = unpack(bytes);
  return Object.fromEntries(header.names.map((name, i) => [name, arrays[i]]));
}
