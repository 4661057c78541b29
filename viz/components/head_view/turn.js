// Of a pinned word that is both: from what it looks at to what looks at it, and back.

import { element } from "../kit/page.js";
import { openToken } from "./lines.js";

const ASKS = { q: "⇄ what looks at it?", k: "⇄ what does it look at?" };

// turn(): called at a press.
export function createTurn(turn) {
  const node = element("button", "turn");
  Object.assign(node, { type: "button", hidden: true, onclick: turn });
  node.dataset.control = "";
  return node;
}

export function offerTurn(node, header, pins) {
  const pin = pins.at(-1);
  node.hidden = !pin || !turned(header, pin);
  if (!node.hidden) node.textContent = ASKS[pin[0]];
}

// The same token on the other side; null where it is on one side only.
export function turned({ sides }, id) {
  const { isRow, place } = openToken(id);
  const [own, other, letter] = isRow ? [sides.rows, sides.columns, "k"] : [sides.columns, sides.rows, "q"];
  for (const [side, places] of Object.entries(own)) {
    const at = other[side]?.[places.indexOf(place)] ?? -1;
    if (at >= 0) return `${letter}${at}`;
  }
  return null;
}
