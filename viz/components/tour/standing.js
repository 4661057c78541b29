// Where the panel of the tour stands: beside what it points at, not over it; on a phone at the lower
// edge, or at the upper one where what it points at is below, or out of sight above.

import { isNarrow } from "../kit/room.js";

const SCROLLER = '[data-testid="stMain"]';
const HEADER = '[data-testid="stHeader"]';
const GAP = 14; // px between the panel and the ring
const MARGIN = 12; // px to the window's edge
const ROUND = 4; // px of the ring around what it rings

// Into the upper part of the page, where a panel below has room.
export function bringIntoSight(node) {
  const scroller = document.querySelector(SCROLLER);
  if (node && !scroller?.contains(hostOf(node))) scroller?.scrollTo({ top: 0, behavior: "instant" }); // the navigation is whole there
  if (!node || !scroller?.contains(hostOf(node))) return;
  const { top, bottom } = node.getBoundingClientRect();
  const least = document.querySelector(HEADER)?.getBoundingClientRect().bottom ?? 0;
  const most = isNarrow() ? window.innerHeight / 2 : window.innerHeight - MARGIN;
  if (top < least + MARGIN || bottom > most) scroller.scrollBy({ top: top - least - 80, behavior: "instant" });
}

// The element in the page that shows what is deep in a component.
function hostOf(node) {
  const root = node.getRootNode();
  return root === document ? node : hostOf(root.host);
}

export function stand(panel, ring, node) {
  const box = node?.getBoundingClientRect();
  ring.hidden = !box;
  if (box) {
    Object.assign(ring.style, px({ left: box.left - ROUND, top: box.top - ROUND, width: box.width + 2 * ROUND, height: box.height + 2 * ROUND }));
  }
  if (isNarrow() || !box) {
    Object.assign(panel.style, { left: "", top: "" });
    const isUnder = box && box.bottom > window.innerHeight - panel.offsetHeight - 2 * MARGIN;
    const isPast = box && box.bottom < 0; // scrolled down from it: the last of the page must be free
    const isAbove = Boolean(isUnder || isPast);
    panel.classList.toggle("above", isAbove);
    panel.classList.toggle("below", !isAbove);
    return;
  }
  panel.classList.remove("above", "below");
  const [left, top] = besides(box, panel.offsetWidth, panel.offsetHeight);
  Object.assign(panel.style, px({ left, top }));
}

// Below, above, to the right, to the left: the first that has room; else in the lower right corner.
function besides({ left, right, top, bottom, width }, wide, high) {
  const { clientWidth } = document.documentElement;
  const [x, y] = [within(left + width / 2 - wide / 2, clientWidth - wide), within(top - 20, window.innerHeight - high)];
  if (bottom + GAP + high < window.innerHeight - MARGIN) return [x, bottom + GAP];
  if (top - GAP - high > MARGIN) return [x, top - GAP - high];
  if (right + GAP + wide < clientWidth - MARGIN) return [right + GAP, y];
  if (left - GAP - wide > MARGIN) return [left - GAP - wide, y];
  return [clientWidth - wide - MARGIN, window.innerHeight - high - MARGIN];
}

function within(value, most) {
  return Math.max(MARGIN, Math.min(value, most - MARGIN));
}

function px(numbers) {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, `${Math.round(value)}px`]));
}
