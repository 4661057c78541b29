// On a wall nobody scrolls: of a long text the part around the step is shown.

import { isOnStage, roomBelow } from "../kit/room.js";

const GAP = 2; // px between lines of tokens, as the style has it
const LEAST = { written: 2, weighted: 1 }; // lines

// What there is no room for goes in this order: the map of all steps, and air; lines of tokens.
export function fitWall({ root, written, source, read }) {
  for (const list of [written, source, read]) list.style.maxHeight = "";
  root.classList.remove("tight");
  if (!isOnStage() || root.offsetHeight <= roomBelow(root)) return;
  root.classList.add("tight");
  const isBelow = (name) => {
    const panel = root.querySelector(`.panel.${name}`);
    return panel.offsetTop + panel.offsetHeight > root.offsetTop + roomBelow(root);
  };
  while (isBelow("candidates") && takeLine(written, LEAST.written));
  while (isBelow("own") && takeLine(nLines(source) > nLines(read) ? source : read, LEAST.weighted));
}

// Scrolls a list as little as brings a token into sight.
export function keepInSight(list, node) {
  const top = node.offsetTop - list.firstChild.offsetTop;
  const below = top + node.offsetHeight - list.clientHeight;
  list.scrollTop = Math.max(Math.min(list.scrollTop, top), below);
}

// Whether there was one to take.
function takeLine(list, least) {
  const n = nLines(list);
  if (n > least) list.style.maxHeight = `${(n - 1) * lineOf(list) - GAP}px`;
  return n > least;
}

function nLines(list) {
  return list.firstChild ? Math.round((list.clientHeight + GAP) / lineOf(list)) : 0;
}

function lineOf(list) {
  return list.firstChild.offsetHeight + GAP;
}
