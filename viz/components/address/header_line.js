// Once the header is scrolled away, what is typed and the checkpoint stand in the line of the
// navigation: the same two fields, which viz/ui/style.py moves there. Their places stay as they
// were, so that nothing else moves, and so does the order of the keyboard.

import { main } from "./focus.js";

const FIELDS = ".st-key-typed, .st-key-chosen";
const NAVIGATION = '[data-testid="stHeader"]';
const MENUS = '[data-testid="stTopNav"] > *';
const OPENS = '[data-testid="stExpandSidebarButton"]'; // the menus, where they are in the sidebar
const AFTER = ".st-key-checked, .st-key-save";
const GAP = 12; // px between it and what stands beside it
const LEAST = 200; // px that the two can be read in

export function watchHeader() {
  window.addEventListener("scroll", ({ target }) => target === main() && fold(), { capture: true, passive: true });
  const resized = new ResizeObserver(fold);
  for (const node of [main(), document.querySelector(NAVIGATION)]) if (node) resized.observe(node);
}

function fold() {
  const { dataset, style } = document.documentElement;
  const room = main()?.scrollTop && isGone() ? roomIn() : null;
  if (room && room.right - room.left >= LEAST) {
    for (const [name, x] of Object.entries(room)) style.setProperty(`--line-${name}`, `${x}px`);
    dataset.header = "line";
  } else delete dataset.header;
}

// Below the navigation, which is opaque: what moved in sight would be seen to jump, and what stayed
// there longer could be neither seen nor clicked.
function isGone() {
  const [line] = rectsOf(NAVIGATION);
  const rows = [...document.querySelectorAll(FIELDS)];
  return rows.length > 0 && rows.every((row) => row.getBoundingClientRect().bottom <= line?.bottom);
}

// From where to where in the line, and how far the button of the sidebar moves to make room: it
// stands behind the logo, which is as wide as half a phone.
function roomIn() {
  const [line] = rectsOf(NAVIGATION);
  const menus = rectsOf(MENUS);
  const right = Math.min(line.right, ...rectsOf(AFTER).map((rect) => rect.left)) - GAP;
  if (menus.length) return { left: Math.max(...menus.map((rect) => rect.right)) + GAP, right, moved: 0 };
  const [button] = document.querySelectorAll(OPENS);
  if (!button) return { left: line.left + GAP, right, moved: 0 };
  const { offsetLeft, offsetParent } = button; // without the move itself
  const at = offsetLeft + (offsetParent?.getBoundingClientRect().left ?? 0);
  return { left: line.left + 2 * GAP + 28, right, moved: line.left + GAP - at };
}

function rectsOf(selector) {
  return [...document.querySelectorAll(selector)].map((node) => node.getBoundingClientRect()).filter(({ width }) => width);
}
