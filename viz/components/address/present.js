// The key f presents the screen, in all of the window; f, Escape and the end of the full screen lead
// back, h brings the heads. The server says where each leads, and nothing where somebody has switched
// the key off.

import { isTyped } from "../kit/keyed.js";
import { hasModifier } from "../kit/roving.js";
import { follow } from "../kit/scene.js";

const LINK = "a[data-present]";
const OPENED = "[role=listbox], [role=menu], [role=dialog]"; // letters choose in them, Escape closes them

const PINNED = ".drawer-tools a"; // closes the card of the pinned word, wherever the keyboard is

const KEYS = ".present-keys"; // says which there are, until one is pressed

// Links: f and h of these keys, back to where a screen that is presented came from; none that is not there.
let ways = {};

export function watchPresent() {
  window.addEventListener("keydown", press);
  window.addEventListener("click", ({ target }) => target.closest?.(LINK) && fill(), true);
  document.addEventListener("fullscreenchange", () => document.fullscreenElement || leave());
}

export function setWays(links) {
  ways = links;
}

function press(event) {
  document.querySelector(KEYS)?.remove();
  if (event.defaultPrevented || event.repeat || event.isComposing || hasModifier(event)) return;
  if (isTyped(event) || isOpened(event)) return;
  const key = event.key.toLowerCase();
  if (key === "escape") {
    if (ways.back) leave();
    else document.querySelector(PINNED)?.click();
  } else if (key === "f" && ways.f) turn();
  else if (key === "h" && ways.h) follow(ways.h);
}

// A list of Streamlit's is one that has opened; words of a picture are a list, too, which has no letters.
function isOpened(event) {
  const [inner] = event.composedPath();
  return Boolean(event.target.closest?.(OPENED) || inner.closest?.("[role=menu], [role=dialog]"));
}

function turn() {
  if (ways.back) return leave();
  fill();
  follow(ways.f);
}

// Where a browser does not allow it, the page is as large as its window.
function fill() {
  document.documentElement.requestFullscreen?.().catch(() => {});
}

function leave() {
  const { back } = ways;
  if (!back) return;
  ways = {}; // until the server has drawn it
  if (document.fullscreenElement) document.exitFullscreen();
  follow(back);
}
