// The small pictures of cards, of what is on the screen: a row as bars, heads as thumbnails.

import { bare, element, setPiece } from "./page.js";
import { createImage, devicePixels, emptied } from "./canvas.js";
import { paintMap } from "./shade.js";
import { amount } from "./sentence.js";

const MOST_BARS = 5;
const SIDE = 64; // px of a thumbnail's longer side at most
const LEAST = 32;
const MOST_ACROSS = 6; // thumbnails in a row

// of: the piece whose row it is, or null. items: [{ piece, value, text, isMarked }], of which the
// largest are shown, and the marked one. rest(n, others): what stands for the n others. more: lines below.
export function bars(of, title, items, rest = null, more = []) {
  const ordered = items.filter(({ value }) => !Number.isNaN(value)).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  const kept = ordered.filter(({ isMarked }, i) => i < MOST_BARS - 1 || isMarked).slice(0, MOST_BARS);
  const most = Math.max(...kept.map(({ value }) => Math.abs(value))) || 1;
  const node = figure(title);
  if (of) node.firstChild.prepend(element("em", "", bare(of)), " ");
  const list = element("div", "card-bars");
  for (const { piece, value, text, isMarked } of kept) {
    const [label, track] = [element("span", "card-piece"), element("span", "card-track")];
    setPiece(label, piece);
    track.style.setProperty("--size", `${(100 * Math.abs(value)) / most}%`);
    track.classList.toggle("below", value < 0);
    const nodes = [label, track, element("span", "card-number", text ?? amount(value))];
    for (const each of nodes) each.classList.toggle("marked", Boolean(isMarked));
    list.append(...nodes);
  }
  const nRest = items.length - kept.length;
  node.append(list);
  const lines = nRest && rest ? [rest(nRest, items.filter((each) => !kept.includes(each))), ...more] : more;
  node.append(...lines.map((line) => element("div", "card-rest dim", line)));
  return node;
}

// What a row of weights lacks where special tokens are left out of it.
export function hiddenIn({ hides }, items) {
  const lacks = 1 - items.reduce((sum, { value }) => sum + (value || 0), 0);
  return hides && lacks >= 0.0005 ? [`hidden special tokens: ${amount(lacks)}`] : [];
}

// maps: [{ title, text, cells, rows, columns, table, signed, isMarked, side }], cells as bytes; side: px.
export function thumbnails(title, maps) {
  const node = figure(title);
  const list = element("div", "card-maps");
  list.style.setProperty("--across", Math.ceil(maps.length / Math.ceil(maps.length / MOST_ACROSS)));
  for (const map of maps) {
    const one = element("div", "card-map");
    one.classList.toggle("marked", Boolean(map.isMarked));
    one.append(thumbnail(map));
    if (map.title) one.append(element("span", "", map.title));
    if (map.text) one.append(element("span", "card-number", map.text));
    list.append(one);
  }
  node.append(list);
  return node;
}

function figure(title) {
  const node = element("div", "card-picture");
  if (title) node.append(element("div", "card-title dim", title));
  return node;
}

function thumbnail({ cells, rows, columns, table, signed, side = SIDE }) {
  const canvas = element("canvas");
  const shape = Math.min(1.5, Math.max(0.6, columns / rows || 1));
  const [wide, high] = shape > 1 ? [side, side / shape] : [side * shape, side];
  const [width, height] = devicePixels(Math.max(LEAST, wide), Math.max(LEAST, high));
  const image = createImage(width, height);
  paintMap(image, { left: 0, top: 0, width, height }, cells, rows, columns, table, signed);
  emptied(canvas, width, height).putImageData(image.data, 0, 0);
  Object.assign(canvas.style, { width: `${Math.max(LEAST, wide)}px`, height: `${Math.max(LEAST, high)}px` });
  return canvas;
}
