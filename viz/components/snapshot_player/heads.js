// All heads of a kind, or of a layer, at one step: small pictures, each a button that opens it.

import { createImage, devicePixels, emptied } from "../kit/canvas.js";
import { element } from "../kit/page.js";
import { paintMap, pixelTable } from "../kit/shade.js";
import { briefText, chosenHead, count, metricText } from "./words.js";

const LARGEST_SIDE = 44; // px of a small picture

// choose([layer, head]); pointed(i): the pointer or the focus is at the picture i, -1: at none.
export function createHeads(choose, pointed) {
  const node = element("section", "small");
  const title = element("h3");
  const list = element("div", "layers");
  node.append(title, list);
  list.onclick = ({ target }) => {
    const button = target.closest("button");
    if (button) choose(button.place);
  };
  const heads = { node, title, list, buttons: [] };
  const at = ({ target }) => pointed(heads.buttons.indexOf(target.closest("button")));
  for (const came of ["pointerover", "focusin"]) list.addEventListener(came, at);
  for (const left of ["pointerleave", "focusout"]) list.addEventListener(left, () => pointed(-1));
  return heads;
}

export function drawHeads(heads, { header, thumbnails }, palette) {
  const [, , nRows, nColumns] = thumbnails.shape;
  heads.table = pixelTable(palette);
  const side = Math.max(nRows, nColumns);
  const size = [nColumns, nRows].map((n) => Math.max(14, Math.round((LARGEST_SIDE * n) / side)));
  const arranged = JSON.stringify([header.heads, size]);
  if (arranged !== heads.arranged) {
    heads.arranged = arranged;
    arrangeHeads(heads, header.heads, size);
  }
  heads.title.textContent = `${ofWhat(header)}, with their ${header.metric.title.toLowerCase()} · ${rolesOf(header)}`;
}

function ofWhat({ heads, title, layer }) {
  const isOne = new Set(heads.map(([each]) => each)).size === 1;
  return `${heads.length} heads of ${isOne ? `L${layer}, ` : ""}${title}`;
}

// When the heads take on their roles, in a few words.
function rolesOf({ roles, steps }) {
  const found = roles.filter((role) => role >= 0).map((role) => steps[role]);
  if (!found.length) return "no head changes noticeably";
  const [first, last] = [Math.min(...found), Math.max(...found)].map(count);
  const when = first === last ? `at step ${first}` : `between steps ${first} and ${last}`;
  return `${found.length === roles.length ? "all" : found.length} take on a role, ${when}`;
}

function arrangeHeads(heads, all, [width, height]) {
  const groups = new Map();
  heads.buttons = all.map(([layer, head]) => {
    const button = element("button", "head");
    Object.assign(button, { type: "button", place: [layer, head] });
    const canvas = element("canvas");
    canvas.setAttribute("aria-hidden", "true");
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
    button.append(canvas, element("span", "name", `H${head}`), element("span", "value"));
    if (!groups.has(layer)) groups.set(layer, element("div", "layer"));
    groups.get(layer).append(button);
    return button;
  });
  for (const [layer, group] of groups) group.prepend(element("span", "label dim", `L${layer}`));
  heads.list.replaceChildren(...groups.values());
}

export function showHeads(heads, { header, thumbnails }, palette, place) {
  const chosen = chosenHead(header);
  const [, n, nRows, nColumns] = thumbnails.shape;
  heads.buttons.forEach((button, i) => {
    const start = (place * n + i) * nRows * nColumns;
    const cells = thumbnails.subarray(start, start + nRows * nColumns);
    paintHead(button.firstChild, cells, nRows, nColumns, heads.table);
    button.lastChild.textContent = briefText(header, place, i);
    button.setAttribute("aria-pressed", String(i === chosen));
    button.setAttribute("aria-label", spokenHead(header, place, i));
  });
}

function spokenHead(header, place, i) {
  const { heads, metric, roles, steps } = header;
  const [layer, head] = heads[i];
  const role = roles[i] < 0 ? "hardly changes" : `its role from step ${count(steps[roles[i]])} on`;
  return `L${layer} H${head}: ${metric.title} ${metricText(header, place, i)}, ${role}`;
}

function paintHead(canvas, cells, nRows, nColumns, table) {
  const { width: across, height: down } = canvas.style;
  const [width, height] = devicePixels(parseInt(across), parseInt(down));
  const image = createImage(width, height);
  paintMap(image, { left: 0, top: 0, width, height }, cells, nRows, nColumns, table);
  emptied(canvas, width, height).putImageData(image.data, 0, 0);
}
