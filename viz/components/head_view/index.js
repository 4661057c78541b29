// One layer's heads as lines between two columns of tokens. All of it happens in the browser.

import { host } from "../kit/host.js";
import { applyPalette, element, onToken } from "../kit/page.js";
import { placeOf } from "../kit/place.js";
import { aimAt, tryFirst } from "../kit/preview.js";
import { createReading } from "../kit/reading.js";
import { onRoom } from "../kit/room.js";
import { hasModifier, takeKey } from "../kit/roving.js";
import { createSentence } from "../kit/sentence.js";
import { onSwipe } from "../kit/swipe.js";
import { accepts, forget, hold, tell, tellLater } from "../kit/sync.js";
import { marked } from "../kit/terms.js";
import { onSight } from "../kit/twin.js";
import { arrangeControls, createControls, markHeads, offerLines, onDigit } from "./controls.js";
import { colourOf, shown } from "./heads.js";
import { illustrate } from "./illustrate.js";
import { openMap, openToken } from "./lines.js";
import { cellsOf, onLine } from "./cutting.js";
import { follow } from "./follow.js";
import { drawBase } from "./picture.js";
import { aimAtLine, isolateTokens, link, point } from "./pointing.js";
import { followSight, resize, scrolled } from "./size.js";
import { offerStrokes } from "./strokes.js";
import { arrangeTokens, createTokens, markPins, nodeOf } from "./tokens.js";
import { createTurn, offerTurn, turned } from "./turn.js";
import { hiddenBy, strongestOf } from "./words.js";

const REST = 300; // ms without a change until the server hears of it

export default host("head_view", create, update);

function create(root, sync) {
  const view = { root, sync, heads: [], pins: [], hovered: null, linked: [], off: [], layers: new Map() };
  view.place = placeOf(root);
  view.controls = createControls({
    heads: (heads) => change(view, { heads }),
    lines: () => change(view, {}),
  });
  view.turn = createTurn(() => turn(view));
  view.controls.bar.lastChild.before(view.turn);
  view.tokens = createTokens({
    point: (id) => point(view, id),
    pin: (id) => change(view, { pins: toggled(view.pins, id) }),
  });
  view.titles = [element("div"), element("div"), element("div")];
  view.wires = element("div", "wires");
  view.wires.setAttribute("role", "img");
  [view.base, view.overlay] = [element("canvas", "base"), element("canvas", "overlay")];
  view.wires.append(view.base, view.overlay);
  offerStrokes(view);
  view.stage = element("div", "stage");
  view.stage.append(view.tokens.rows, view.wires, view.tokens.columns);
  view.box = element("div", "box");
  view.box.append(view.stage);
  view.sentence = createSentence(["query", "key"]); // they stand above the columns
  view.illustrate = (what) => illustrate(view, what);
  view.legend = element("div", "legend dim");
  view.reading = createReading();
  view.hides = element("span", "hides"); // in place of its title, where that has no room
  view.legend.append(view.reading.node, view.hides);
  const titles = element("div", "titles dim");
  titles.append(...view.titles);
  root.replaceChildren(view.sentence.node, view.controls.bar, titles, view.box, view.legend);
  root.onkeydown = (event) => onKey(view, event);
  view.box.onscroll = () => scrolled(view);
  // Those that the server has not heard of yet are told again.
  const withLine = (line) => [...(sync.own.cut?.value ?? []), line];
  const changedBy = (lines) => {
    const cuts = lines.flatMap((line) => cellsOf(view.map.header, line).map((cell) => `${view.cuts}.${cell.join(".")}`));
    return { [view.changes]: [...new Set([...view.edits, ...cuts])] };
  };
  const cut = (line) => {
    const lines = withLine(line);
    hold(sync, "cut", lines);
    const { opened } = sync;
    // What it gives may be another text, which forgets it; but a link may have led elsewhere.
    const isDue = () => sync.opened === opened;
    tryFirst(changedBy(lines), () => isDue() && tell(sync, "cut", lines), isDue);
  };
  onLine(view, cut, (line) => {
    aimAtLine(view, line); // first: who hears of a word guesses that it is what is aimed at
    if (view.tool === "arrows") aimAt(line && changedBy(withLine(line)));
  });
  onSwipe(view.box, (by) => tell(sync, "turn", by));
  const observer = new ResizeObserver(() => resize(view));
  for (const node of [view.wires, view.legend]) observer.observe(node); // a legend takes a line more
  const endRoom = onRoom(view.box, () => resize(view));
  const silence = onToken((token) => link(view, token));
  const endSight = onSight(view, (sight) => followSight(view, sight));
  view.dispose = () => {
    observer.disconnect();
    endRoom();
    silence();
    endSight();
    view.sentence.end();
    clearTimeout(view.rest);
    cancelAnimationFrame(view.wording);
    view.endMoving?.();
    view.endFold?.();
    view.leave?.();
  };
  return view;
}

function update(view, { nonce, palette, ink, colours, head, heads, pins, lines, tool, cuts, edits, off, changes, twin, payload }) {
  const drawn = `${nonce} ${palette.name}`;
  const text = view.map?.header.text;
  Object.assign(view, { head, ink, colours, palette, tool, cuts, edits, off, changes, twin });
  view.root.dataset.tool = tool;
  const isNew = drawn !== view.drawn;
  if (isNew) {
    Object.assign(view, { drawn, nonce, map: openMap(payload), hovered: null, linked: [], linkedCell: null });
    applyPalette(view.root, palette);
    arrangeControls(view.controls, view.map);
    nameSides(view);
  }
  const isOther = view.map.header.text !== text;
  if (isOther) arrangeTokens(view.tokens, view.map.header);
  if (isOther) forget(view.sync);
  const isTaken = accepts(view.sync, "view", { heads, pins, lines });
  if (isTaken) adopt(view, heads, pins);
  const wished = isTaken ? lines : view.controls.wished;
  if (isNew || wished !== view.controls.wished) offerLines(view.controls, wished, view.map);
  follow(view); // first: lines that still move are of the heads of before
  resize(view);
  if (isOther && view.pins.length) showPin(view, view.pins.at(-1));
  redraw(view);
}

// Only what there is: a head or a token may be of another model or sentence.
function adopt(view, heads, pins) {
  view.heads = [...new Set(heads)].sort((a, b) => a - b);
  view.pins = [...new Set(pins)].filter((id) => /^[qk]\d+$/.test(id) && nodeOf(view.tokens, id));
}

function change(view, changed) {
  Object.assign(view, changed);
  redraw(view);
  const { heads, pins, controls } = view;
  tellLater(view.sync, "view", { heads, pins, lines: controls.wished }, REST);
}

// The pin that was set last, on the other side.
function turn(view) {
  const { pins } = view;
  const other = turned(view.map.header, pins.at(-1));
  change(view, { pins: [...pins.slice(0, -1).filter((pin) => pin !== other), other] });
  (view.turn.hidden ? nodeOf(view.tokens, other) : view.turn).focus();
}

// Scrolls the box, and nothing else of the page, to a token.
function showPin(view, id) {
  view.box.scrollTop = openToken(id).place * view.pitch - view.height / 2;
}

function toggled(list, id) {
  return list.includes(id) ? list.filter((other) => other !== id) : [...list, id];
}

// Rows that are read and rows that are written may have the same tokens.
function nameSides(view) {
  const { header } = view.map;
  view.titles[0].replaceChildren(...titled(view, header.titles[0], "query"));
  view.titles[2].replaceChildren(...titled(view, header.titles[1], "key"));
}

// "writing (query)": what it is in plain words, and what it is called.
function titled({ root }, title, name) {
  const [plain, named] = title.split(/(?= \()/);
  const called = element("span", "named");
  called.append(...marked(root, named ?? "", { only: [name] }));
  return [...marked(root, plain, { only: [name] }), called];
}

function redraw(view) {
  const start = performance.now();
  const heads = shown(view);
  view.strongest = strongestOf(view, heads);
  markHeads(view.controls, heads, { chosen: view.head, off: view.off, colourOf: (head) => colourOf(view, head) });
  markPins(view.tokens, view.pins);
  offerTurn(view.turn, view.map.header, view.pins);
  const hidden = heads.length === 1 ? hiddenBy(view.map, heads[0]) : "";
  for (const node of [view.titles[1], view.hides]) node.textContent = hidden;
  view.root.dataset.heads = heads.join();
  view.root.dataset.pins = view.pins.join();
  follow(view);
  drawBase(view);
  isolateTokens(view);
  view.root.dataset.drawMs = (performance.now() - start).toFixed(2);
}

function onKey(view, event) {
  if (hasModifier(event) || event.defaultPrevented) return;
  if (event.target.closest("select")) return;
  if (event.key === "Escape" && view.pins.length) change(view, { pins: [] });
  else if (!onDigit(view.controls, event)) return;
  takeKey(event);
}
