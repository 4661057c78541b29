// On a narrow screen pictures stand below what changes them: they are brought into sight. Not for a
// mouse, which stays where it clicked: another click there is to hit the same.

import { isCalm } from "./motion.js";
import { isNarrow } from "./room.js";

const SCROLLER = '[data-testid="stMain"], [data-scroller]';
const HEADER = '[data-testid="stHeader"]';
const LARGE = ["arrows", "map", "inside"].map((key) => `.st-key-${key}`).join();
const MARGIN = 8; // px

// The large picture with the sentence above it, down to its legend: as much of it as there is room.
// event: what asked for it.
export function showLarge({ pointerType }) {
  const large = pointerType !== "mouse" && isNarrow() && document.querySelector(LARGE);
  if (!large) return;
  const box = large.getBoundingClientRect();
  const least = document.querySelector(HEADER).getBoundingClientRect().bottom;
  const by = wayTo([box.top, bottomOf(large) ?? box.bottom], [least, window.innerHeight - MARGIN]);
  // Whole pixels, so that no part of one leaves the picture's first line below the header.
  const top = Math.floor(by);
  document.querySelector(SCROLLER).scrollBy({ top, behavior: isCalm() ? "auto" : "smooth" });
}

// How far to scroll until a picture is in a window: no further than to its top. Both [top, bottom].
export function wayTo([top, bottom], [first, last]) {
  return top < first ? top - first : Math.min(top - first, Math.max(0, bottom - last));
}

function bottomOf(large) {
  const host = [...large.querySelectorAll("*")].find((node) => node.shadowRoot);
  return host?.shadowRoot.querySelector(".legend")?.getBoundingClientRect().top;
}
