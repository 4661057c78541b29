// What stands in for a scene that cannot be live: its recording, under a badge that says why. The
// recordings are one page, which the browser keeps as long as the talk is open.

import { element } from "../kit/page.js";
import { isShown } from "../kit/scene.js";

const APP = '[data-testid="stApp"]';
const FAILED = '[data-testid="stMain"] [data-testid="stAlertContentError"] [data-testid="stMarkdownContainer"]';
const DIALOG = '[data-testid="stDialog"] button'; // Streamlit's own about its connection
const REVEAL = "headscope:reveal"; // viz/components/question hears it
const LATE = 4000; // ms after which a scene is shown as it was recorded, until it is drawn
const AGAIN = 5000; // ms after which it is asked once more for what it did not answer

// onKey(event) hears the keys that are pressed in the recording.
export function createRecorded(onKey) {
  const frame = element("iframe", "recording");
  frame.title = "Recorded scene";
  frame.hidden = true;
  const badge = element("output", "badge");
  badge.hidden = true;
  frame.onload = () => {
    frame.contentDocument.documentElement?.classList.add("framed");
    // Those that are pressed there, and not those of `press`.
    frame.contentWindow.addEventListener("keydown", (event) => event.isTrusted && onKey(event), true);
  };
  return { frame, badge, asked: "", at: 0, url: "", due: Infinity, wasCut: false, wentAt: 0 };
}

// Fetches the recordings from where they are, once.
export async function keep(recorded, address) {
  const now = performance.now();
  if (!address || recorded.url || recorded.asked === address || now < recorded.at) return;
  Object.assign(recorded, { asked: address, at: now + AGAIN });
  const answer = await fetch(new URL(address, location.href)).catch(() => null);
  if (answer?.status === 200) recorded.url = URL.createObjectURL(await answer.blob());
  else if (answer?.status !== 204) recorded.asked = "";
}

// Whether the server can be told of anything.
export function isCut() {
  return document.querySelector(APP)?.dataset.testConnectionState !== "CONNECTED";
}

// Somebody asks for another scene: it is to be there soon.
export function expectScene(recorded) {
  recorded.due = Math.min(recorded.due, performance.now() + LATE);
}

// Shows the recording of the scene of this number, counted from 1, as long as the live one fails.
// isTold: whether that is as it was recorded; goAgain() asks for the live one.
export function standIn(recorded, { scene, isTold, theme, goAgain }) {
  const why = whyNot(recorded, scene, isTold, goAgain);
  recorded.badge.hidden = !why;
  if (why) recorded.badge.textContent = recorded.url ? `Recorded: ${why}` : `Not live, and not recorded: ${why}`;
  if (why && recorded.url) show(recorded, scene, theme);
  else recorded.frame.hidden = true;
}

function whyNot(recorded, scene, isTold, goAgain) {
  if (isCut()) {
    recorded.wasCut = true;
    document.querySelector(DIALOG)?.click();
    return "the server does not answer";
  }
  if (recorded.wasCut && !isBack(recorded, scene, goAgain)) return "the server is coming back";
  const failed = isTold && document.querySelector(FAILED);
  if (failed) return `the model failed. ${failed.textContent}`;
  if (isShown(scene)) recorded.due = Infinity;
  return performance.now() > recorded.due ? "the model takes its time" : "";
}

// Whoever was away says where he is now; the server may be another one.
function isBack(recorded, scene, goAgain) {
  const now = performance.now();
  if (now > recorded.wentAt + AGAIN) {
    recorded.wentAt = now;
    goAgain();
    return false;
  }
  if (!isShown(scene)) return false;
  Object.assign(recorded, { wasCut: false, wentAt: 0, due: Infinity });
  return true;
}

// It is opened when it is seen first: what is drawn out of sight has no width.
function show({ frame, url }, scene, theme) {
  frame.hidden = false;
  const place = `${url}#${scene}`;
  if (!frame.src) frame.src = place;
  const page = frame.contentDocument;
  if (!page?.documentElement?.classList.contains("framed")) return; // not there yet
  if (page.URL !== place) frame.contentWindow.location.replace(place);
  if (page.documentElement.style.colorScheme !== theme) press(frame, "d");
}

// The answer to the question of the scene that is seen.
export function reveal({ frame }) {
  if (frame.hidden) window.dispatchEvent(new Event(REVEAL));
  else press(frame, "r");
}

// A key of the recording's own.
function press({ contentWindow, contentDocument }, key) {
  contentDocument.dispatchEvent(new contentWindow.KeyboardEvent("keydown", { key }));
}
