// The two columns of tokens, and what is written beside them.

import { bare, decimals, element, setPiece } from "../kit/page.js";
import { hasModifier, placeAfter, takeKey } from "../kit/roving.js";
import { openToken, partnersOf } from "./lines.js";

const N_LABELS = 6; // exact weights beside the tokens; more heads: fewer of each

// on: { point(id or null), pin(id), clear() }
export function createTokens(on) {
  const tokens = { on, rows: list("rows", "Queries"), columns: list("columns", "Keys"), labelled: [] };
  for (const node of [tokens.rows, tokens.columns]) {
    node.onpointerover = ({ target }) => on.point(target.closest(".token")?.dataset.token ?? null);
    node.onpointerleave = () => on.point(null);
    node.onclick = ({ target }) => {
      const id = target.closest(".token")?.dataset.token;
      if (!id) return;
      stopAt(tokens, id);
      on.pin(id);
    };
    node.onkeydown = (event) => onTokenKey(tokens, event);
    node.addEventListener("focusin", ({ target }) => target.matches(":focus-visible") && on.point(target.dataset.token));
    node.addEventListener("focusout", () => on.point(null));
  }
  return tokens;
}

function list(className, title) {
  const node = element("div", `tokens ${className}`);
  node.setAttribute("role", "listbox");
  node.setAttribute("aria-multiselectable", "true");
  node.setAttribute("aria-label", title);
  return node;
}

export function arrangeTokens(tokens, { rows, columns, second = [] }) {
  tokens.rows.replaceChildren(...rows.map((piece, i) => token(`q${i}`, piece)));
  tokens.columns.replaceChildren(...columns.map((piece, i) => token(`k${i}`, piece)));
  second.forEach((place, i) => place && [tokens.rows, tokens.columns][i].children[place].classList.add("second"));
  tokens.labelled = [];
  tokens.marked = [];
  tokens.pinned = [];
  tokens.widths = null;
  stopAt(tokens, nodeOf(tokens, tokens.roving) ? tokens.roving : "q0");
}

function token(id, piece) {
  const node = element("div", "token");
  const text = element("span", "piece");
  setPiece(text, piece);
  node.append(text);
  node.dataset.token = id;
  node.tabIndex = -1;
  node.setAttribute("role", "option");
  node.setAttribute("aria-selected", "false");
  node.setAttribute("aria-label", bare(piece));
  return node;
}

export function nodeOf(tokens, id) {
  if (!id) return undefined;
  const { isRow, place } = openToken(id);
  return tokens[isRow ? "rows" : "columns"].children[place];
}

// Of every so many tokens one has its name in sight: those that stand out, the first of them before
// the others, then the rest as far as none lies on another.
export function leaveOut(tokens, { every = tokens.every ?? 1, ids = tokens.named ?? [] }) {
  Object.assign(tokens, { every, named: ids });
  for (const { children } of [tokens.rows, tokens.columns]) {
    const nodes = [...children];
    const first = ids.map((id) => nodes.indexOf(nodeOf(tokens, id))).filter((i) => i >= 0);
    const regular = nodes.map((_, i) => i).filter((i) => i % every === 0);
    const [named, taken] = [new Set(), new Set()];
    for (const i of [...first, ...regular]) {
      if (taken.has(i)) continue;
      named.add(i);
      for (let at = i - every + 1; at < i + every; at++) taken.add(at);
    }
    nodes.forEach((node, i) => node.classList.toggle("between", !named.has(i)));
  }
}

// Where Tab stops: one token of both columns.
function stopAt(tokens, id) {
  const [before, node] = [nodeOf(tokens, tokens.roving), nodeOf(tokens, id)];
  if (before) before.tabIndex = -1;
  if (node) node.tabIndex = 0;
  tokens.roving = id;
}

function onTokenKey(tokens, event) {
  if (hasModifier(event)) return;
  const id = event.target.dataset.token;
  const { isRow, place } = openToken(id);
  const own = isRow ? tokens.rows : tokens.columns;
  const other = isRow ? tokens.columns : tokens.rows;
  const crossing = event.key === (isRow ? "ArrowRight" : "ArrowLeft");
  const to = placeAfter(event.key, place, own.children.length, "column");
  if (event.key === "Enter" || event.key === " ") tokens.on.pin(id);
  else if (crossing) go(tokens, other, Math.min(place, other.children.length - 1));
  else if (to !== undefined) go(tokens, own, to);
  else return;
  takeKey(event);
}

function go(tokens, column, place) {
  const node = column.children[place];
  if (!node) return;
  stopAt(tokens, node.dataset.token);
  node.focus();
}

export function markPins(tokens, pins) {
  for (const node of tokens.pinned) node.setAttribute("aria-selected", "false");
  tokens.pinned = pins.map((id) => nodeOf(tokens, id));
  for (const node of tokens.pinned) node.setAttribute("aria-selected", "true");
}

// Tokens that stand out while the others step back, and those pointed at elsewhere.
export function markActive(tokens, ids, linked) {
  for (const node of tokens.marked) node.classList.remove("active", "pointed");
  tokens.marked = ids.map((id) => nodeOf(tokens, id)).filter(Boolean);
  for (const node of tokens.marked) node.classList.add("active");
  for (const id of linked) nodeOf(tokens, id)?.classList.add("pointed");
}

// [{ head, id, value }]: each head's strongest lines at a token, the strongest first.
export function strongestAt(map, heads, id) {
  const each = Math.max(1, Math.floor(N_LABELS / heads.length));
  const side = openToken(id).isRow ? "k" : "q";
  const of = (head) =>
    partnersOf(map, head, id)
      .slice(0, each)
      .map(({ place, value }) => ({ head, id: `${side}${place}`, value }));
  return heads.flatMap(of).sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}

// Exact weights beside the tokens that they belong to, as many as there is room for.
export function labelTokens(tokens, found, badge) {
  for (const node of tokens.labelled) {
    node.classList.remove("partner");
    node.lastChild.remove();
  }
  const groups = [...Map.groupBy(found, ({ id }) => id)];
  tokens.labelled = groups.map(([id]) => nodeOf(tokens, id));
  const rooms = tokens.labelled.map((node) => (tokens.widths ? roomBeside(tokens, node) : 0));
  groups.forEach(([, labels], i) => {
    const width = badge(labels[0].head) ? 62 : 46;
    const n = labels.length * width <= rooms[i] ? labels.length : Math.floor((rooms[i] - 20) / width);
    const box = element("span", "labels");
    box.setAttribute("aria-hidden", "true");
    const first = labels.slice(0, Math.max(1, n));
    box.append(...first.map(({ head, value }) => label(head, value, badge)));
    if (first.length < labels.length) box.append(`+${labels.length - first.length}`);
    tokens.labelled[i].classList.add("partner");
    tokens.labelled[i].append(box);
  });
}

// Widths, read once for all: of the columns, and of each piece.
export function measureRooms(tokens) {
  tokens.column = tokens.rows.clientWidth;
  if (tokens.widths) return;
  const pieces = [...tokens.rows.children, ...tokens.columns.children].map((node) => node.firstChild);
  tokens.widths = new WeakMap(pieces.map((piece) => [piece.parentElement, piece.offsetWidth]));
}

// Pixels for the labels of a token.
function roomBeside({ column, widths }, node) {
  return column - widths.get(node) - 8;
}

function label(head, value, badge) {
  const node = element("span", "label");
  const mark = badge(head);
  if (mark) node.append(mark);
  node.append(decimals(value));
  return node;
}
