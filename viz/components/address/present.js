// The key f presents the screen, in all of the window; f, Escape and the end of the full screen lead
// back. The server says where either leads, and nothing where somebody has switched the key off.

import { isTyped } from "../kit/keyed.js";
import { hasModifier } from "../kit/roving.js";
import { follow } from "../kit/scene.js";

const LINK = "a[data-present]";
const OPENED = "[role=listbox], [role=menu], [role=dialog]"; // letters choose in them, Escape closes them

const PINNED = ".drawer-tools a"; // closes the card of the pinned word, wherever the keyboard is

// key: the link of the key f, "" for none; back: where a screen that is presented came from.
const ways = { key: "", back: "" };

export function watchPresent() {
  window.addEventListener("keydown", press);
  window.addEventListener("click", ({ target }) => target.closest?.(LINK) && fill(), true);
  document.addEventListener("fullscreenchange", () => document.fullscreenElement || leave());
}

export function setWays(key, back) {
  Object.assign(ways, { key, back });
}

function press(event) {
  if (event.defaultPrevented || event.repeat || event.isComposing || hasModifier(event)) return;
  if (isTyped(event) || isOpened(event)) return;
  if (event.key === "Escape") {
    if (ways.back) leave();
    else document.querySelector(PINNED)?.click();
  } else if (event.key.toLowerCase() === "f" && ways.key) turn();
}

// A list of Streamlit's is one that has opened; words of a picture are a list, too, which has no letters.
function isOpened(event) {
  const [inner] = event.composedPath();
  return Boolean(event.target.closest?.(OPENED) || inner.closest?.("[role=menu], [role=dialog]"));
}

function turn() {
  if (ways.back) return leave();
  fill();
  follow(ways.key);
}

// Where a browser does not allow it, the page is as large as its window.
function fill() {
  document.documentElement.requestFullscreen?.().catch(() => {});
}

function leave() {
  const { back } = ways;
  if (!back) return;
  Object.assign(ways, { key: "", back: "" }); // until the server has drawn it
  if (document.fullscreenElement) document.exitFullscreen();
  follow(back);
}
