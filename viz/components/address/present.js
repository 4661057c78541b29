// The key f presents the screen, in all of the window; f, Escape and the end of the full screen lead
// back. The server says where either leads, and nothing where somebody has switched the key off.

import { isTyped } from "../kit/keyed.js";
import { hasModifier } from "../kit/roving.js";
import { follow } from "../kit/scene.js";

const LINK = "a[data-present]";
const OPENED = "[role=listbox], [role=menu], [role=dialog]"; // letters choose in them, Escape closes them

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
  if (isTyped(event) || event.composedPath()[0].closest?.(OPENED)) return;
  if (event.key === "Escape" && ways.back) leave();
  else if (event.key.toLowerCase() === "f" && ways.key) turn();
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
