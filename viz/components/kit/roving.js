// Groups of elements with one stop for Tab: arrow keys, Home and End go on from there.

const STEPS = {
  row: { ArrowLeft: -1, ArrowRight: 1 },
  column: { ArrowUp: -1, ArrowDown: 1 },
  both: { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 },
};

const MIRRORED = { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };

// Where a key leads from place `at` among n; undefined: nowhere, it is another key.
export function placeAfter(key, at, n, direction) {
  if (key === "Home") return 0;
  if (key === "End") return n - 1;
  const step = STEPS[direction][key];
  return step === undefined ? undefined : Math.min(n - 1, Math.max(0, at + step));
}

// The focus goes along a group's elements, if it is at one of them and the key is one that moves.
export function rove(event, nodes, direction) {
  const at = nodes.indexOf(event.target);
  const key = isLeftward(event.target.parentElement) ? (MIRRORED[event.key] ?? event.key) : event.key;
  const to = at < 0 ? undefined : placeAfter(key, at, nodes.length, direction);
  if (to === undefined) return;
  takeKey(event);
  moveStop(nodes[at], nodes[to]);
}

function isLeftward(row) {
  return getComputedStyle(row).direction === "rtl";
}

export function moveStop(from, to) {
  from.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
}

// Nobody else is to hear of a key that did something here.
export function takeKey(event) {
  event.preventDefault();
  event.stopPropagation();
}

export function hasModifier({ ctrlKey, altKey, metaKey }) {
  return ctrlKey || altKey || metaKey;
}
