// A token that is pointed at or pinned: its lines stand out, all others step back.

import { say } from "../kit/sentence.js";
import { announce, placesOf, tokenAt } from "../kit/twin.js";
import { aimedOf, badge, colourOf, laneOf, shiftOf, shown } from "./heads.js";
import { MAX_POINTED, developed, linesAt, openToken, paintLines } from "./lines.js";
import { movedLines, paintHead } from "./picture.js";
import { labelTokens, leaveOut, markActive, strongestAt } from "./tokens.js";
import { describe, explain, heldCell, said } from "./words.js";

const LONGEST = 34; // px: the bar of a weight of 1

// Pointed at, here or elsewhere: its lines stand out. Null: the pointer has left.
export function point(view, id) {
  if (id === view.hovered) return;
  const start = performance.now();
  view.hovered = id;
  isolateTokens(view);
  view.root.dataset.hoverMs = (performance.now() - start).toFixed(2);
  if (!id) return aloud(view, null);
  const { isRow, place } = openToken(id);
  const axis = isRow ? "rows" : "columns";
  aloud(view, tokenAt(view.map.header.sides[axis], place), axis);
}

// A line that is pointed at; null: none is.
export function aimAtLine(view, line) {
  if (!view.twin) return;
  const { rows, columns } = view.map.header.sides;
  if (!line) aloud(view, null);
  else aloud(view, tokenAt(rows, line[1]), "cell", tokenAt(columns, line[2]));
  isolateTokens(view); // in words, too
}

// What is said here is for the others.
function aloud(view, ...pointed) {
  view.announcing = true;
  announce(view, ...pointed);
  view.announcing = false;
}

// A token pointed at in another picture, or a line in the one beside it.
export function link(view, token) {
  if (view.announcing || !view.map) return;
  const { rows: row, columns: column, isCell } = placesOf(view, token);
  view.linkedCell = isCell && row >= 0 ? [row, column] : null;
  view.linked = isCell ? [] : [...(row < 0 ? [] : [`q${row}`]), ...(column < 0 ? [] : [`k${column}`])];
  view.root.dataset.linked = isCell ? `${view.linkedCell ?? ""}` : view.linked.join();
  isolateTokens(view);
}

// The lines of the tokens that are pinned or pointed at; all others step back.
export function isolateTokens(view) {
  const active = [...new Set([...view.pins, ...view.linked, view.hovered ?? []].flat())];
  const heads = shown(view);
  view.active = active;
  view.stage.classList.toggle("isolated", active.length > 0);
  markActive(view.tokens, active, view.linked);
  // Words follow a frame later: lines are what a moving pointer waits for.
  cancelAnimationFrame(view.wording);
  view.wording = requestAnimationFrame(() => putIntoWords(view, heads));
  drawActive(view, heads);
}

export function drawActive(view, heads) {
  if (!view.paint) return;
  const [active, aimed] = [view.active, aimedOf(view, heads)];
  const context = view.overlay.getContext("2d");
  if (!active.length && !aimed) return context.clearRect(0, 0, view.base.width, view.base.height);
  const each = Math.floor(MAX_POINTED / Math.max(1, heads.length));
  const linesOf = (map, head) => linesAt(map, head, active, each);
  const lines = view.moving
    ? [movedLines(view, linesOf)]
    : heads.map((head) => linesOf(view.map, head));
  heads.forEach((head, i) => paintHead(view, head, lines[i]));
  if (aimed) paintAimed(view, ...aimed);
  context.putImageData(developed(view.paint), 0, -view.paint.margin);
  if (heads.length > 1) heads.forEach((head, i) => drawEnds(view, context, head, lines[i]));
}

// The line that a click would cut, as thick as any.
function paintAimed(view, head, row, column) {
  const { paint, map, pitch, top, palette } = view;
  const place = { pitch: pitch * paint.ratio, top, shift: shiftOf(view, head) * paint.ratio };
  const line = { rows: [row], columns: [column], values: [map.header.bound] };
  paintLines(paint, line, palette.accent, map.header.bound, place);
}

// At the key of each line a bar as long as its weight, as in the paper's Figure 3.
function drawEnds(view, context, head, { columns, values }) {
  const { paint: { ratio, width }, pitch, top, map } = view;
  const thick = Math.max(1, laneOf(view) - 1) * ratio;
  context.fillStyle = colourOf(view, head);
  columns.forEach((column, i) => {
    const long = Math.min(1, Math.abs(values[i]) / map.header.bound) * LONGEST * ratio;
    const middle = ((column + 0.5) * pitch + shiftOf(view, head)) * ratio - top;
    context.fillRect(width - long, middle - thick / 2, long, thick);
  });
}

// Labels beside the tokens, the sentence above, and the legend.
function putIntoWords(view, heads) {
  const held = view.hovered ? null : heldCell(view, heads);
  const id = view.hovered ?? (held ? `q${held.row}` : view.pins.at(-1));
  const found = id && heads.length ? strongestAt(view.map, heads, id) : [];
  const key = held && `k${held.column}`;
  if (held && !found.some((each) => each.id === key)) found.push({ ...held, id: key });
  leaveOut(view.tokens, { ids: [...view.active.toReversed(), ...found.map((each) => each.id)] });
  labelTokens(view.tokens, found, (head) => badge(view, head));
  say(view.sentence, said(view, heads));
  const told = `${view.drawn} ${heads} off ${view.off} ${view.controls.lines.value}`;
  if (told === view.told) return;
  view.told = told;
  explain(view, heads);
  view.wires.setAttribute("aria-label", describe(view, heads));
}
