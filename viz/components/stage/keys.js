// What each key of a talk does.

import { isInUse } from "../kit/keyed.js";
import { hasModifier } from "../kit/roving.js";

const KEYS = {
  ArrowRight: "next",
  ArrowDown: "next",
  PageDown: "next",
  " ": "next",
  ArrowLeft: "previous",
  ArrowUp: "previous",
  PageUp: "previous",
  Home: "first",
  End: "last",
  ".": "blank", // of clickers, as F5
  b: "blank",
  F5: "full",
  f: "full",
  d: "dark",
  g: "go",
  o: "overview",
  r: "reveal",
  Enter: "reveal",
  p: "presenter",
  q: "invite",
  h: "tool",
  Escape: "leave",
};
// Those of a clicker: nothing on a page is moved by them.
const CLICKER = ["PageDown", "PageUp", ".", "F5", "Escape"];

// null: the key belongs to what has the focus. isTyped: a text is typed there, which only Escape
// ends; at: what the keyboard has led to, where arrow keys and the space bar do something else.
export function actionOf(event, isTyped, at = document.activeElement) {
  const { key } = event;
  if (hasModifier(event) || event.isComposing) return null;
  if (isTyped) return key === "Escape" ? "field" : null;
  if (!CLICKER.includes(key) && key.length !== 1 && isInUse(at)) return null;
  if (key === " " && isInUse(at)) return null;
  return KEYS[key.length === 1 ? key.toLowerCase() : key] ?? null;
}
