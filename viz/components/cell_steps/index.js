// Inside one cell: numbered stages from q and k to a share of the head's output.

import { host } from "../kit/host.js";
import { applyPalette, decimals, element } from "../kit/page.js";
import { placeAfter, rove, takeKey } from "../kit/roving.js";
import { createSentence, saidOf, say } from "../kit/sentence.js";
import { onSwipe } from "../kit/swipe.js";
import { tell } from "../kit/sync.js";
import { unpack } from "../kit/unpack.js";
import { drawBars, drawLengths, drawMask, drawSteps } from "./bars.js";
import { choose, illustrateRow, showSoftmax } from "./competitors.js";
import { createStages, showKeyNumbers, showValueNumbers, showWhole } from "./stages.js";

export default host("cell_steps", create, update);

function create(root, sync) {
  const cell = { root, marks: { key: null, value: null }, focused: { key: null, value: null } };
  cell.ask = (key) => tell(sync, "cell", [cell.header.cell[0], key]);
  cell.turn = (by) => tell(sync, "turn", by);
  cell.says = element("p", "hidden-text");
  cell.line = createSentence();
  cell.illustrate = (what, name) => (what === "row" && name !== "value_norm" ? illustrateRow(cell) : null);
  cell.equation = element("div", "equation");
  cell.competitors = element("div", "competitors");
  cell.competitors.setAttribute("role", "group");
  cell.stages = createStages(cell);
  cell.stages.vectors.node.classList.add("vectors");
  cell.stages.softmax.node.classList.add("wide");
  const list = element("div", "stages");
  list.append(...Object.values(cell.stages).map(({ node }) => node));
  root.replaceChildren(cell.line.node, cell.says, list);
  listen(cell);
  return cell;
}

// The first drawing of each group is a slider: its dimensions can be walked through by keyboard.
function listen(cell) {
  const { root, stages, competitors } = cell;
  cell.sliders = { key: stages.vectors.picture, value: stages.value.picture };
  for (const [group, slider] of Object.entries(cell.sliders)) {
    slider.setAttribute("role", "slider");
    slider.setAttribute("aria-label", group === "key" ? "Dimension of q and k" : "Dimension of v");
    slider.tabIndex = 0;
    slider.onfocus = () => focusDimension(cell, group, cell.top[group]);
    slider.onblur = () => focusDimension(cell, group, null);
    slider.onkeydown = (event) => walkDimensions(cell, group, event);
  }
  const moved = (event) => point(cell, event);
  root.onpointermove = moved;
  root.onpointerdown = moved;
  root.onpointerleave = moved;
  onSwipe(root, cell.turn);
  competitors.onclick = ({ target }) => choose(cell, target.closest("button"));
  competitors.onkeydown = (event) => rove(event, [...competitors.querySelectorAll("button")], "both");
  const at = ({ target }) => speak(cell, target.closest("button"));
  for (const came of ["pointerover", "focusin"]) competitors.addEventListener(came, at);
  for (const left of ["pointerleave", "focusout"]) competitors.addEventListener(left, () => speak(cell, null));
  const observer = new ResizeObserver(() => draw(cell));
  observer.observe(root);
  cell.redraw = () => draw(cell);
  cell.dispose = () => {
    observer.disconnect();
    cell.line.end();
  };
}

function update(cell, { nonce, palette, signs, payload }) {
  const drawn = `${nonce} ${palette.name}`;
  if (drawn === cell.drawn) return;
  const { header, arrays } = unpack(payload);
  const [q, k, products, running, value, part, output, scores, weights, allowed, shown] = arrays;
  const vectors = { q, k, products, running, value, part, output };
  Object.assign(cell, vectors, { drawn, nonce, header, scores, weights, allowed, shown });
  cell.colours = { ...palette, ...signs };
  applyPalette(cell.root, cell.colours);
  cell.says.textContent = header.says;
  showSoftmax(cell);
  speak(cell, null);
  showWhole(cell);
  cell.top = { key: largestOf(products), value: largestOf(part) };
  for (const group of ["key", "value"]) {
    cell.sliders[group].setAttribute("aria-valuemin", 0);
    cell.sliders[group].setAttribute("aria-valuemax", length(cell, group) - 1);
    mark(cell, group, cell.focused[group] === null ? null : cell.top[group]);
  }
  draw(cell);
}

// Of the key that is pointed at in the softmax, else of this cell.
function speak(cell, button) {
  const { header, shown, weights } = cell;
  const key = Number(button?.dataset.key ?? header.cell[1]);
  const { layer, head, query_token: row, labels, sentence: words } = header;
  const value = cell.allowed[key] ? weights[key] : NaN;
  const column = labels[shown.indexOf(key)];
  const why = button ? "Pointed at" : "This cell, step by step";
  say(cell.line, saidOf(words, { row, column, layer, head, value }, why, Boolean(button)));
}

function point(cell, event) {
  const drawing = event.target.closest?.("[data-group]");
  for (const group of ["key", "value"]) {
    let d = cell.focused[group];
    if (drawing?.dataset.group === group && event.type !== "pointerleave") {
      const box = drawing.getBoundingClientRect();
      const n = length(cell, group);
      d = Math.min(n - 1, Math.max(0, Math.floor((n * (event.clientX - box.left)) / box.width)));
    }
    if (d !== cell.marks[group]) markAndDraw(cell, group, d);
  }
}

function focusDimension(cell, group, d) {
  cell.focused[group] = d;
  markAndDraw(cell, group, d);
}

function markAndDraw(cell, group, d) {
  mark(cell, group, d);
  (group === "key" ? drawKeys : drawValues)(cell);
}

function walkDimensions(cell, group, event) {
  const to = placeAfter(event.key, cell.marks[group] ?? 0, length(cell, group), "both");
  if (to === undefined) return;
  takeKey(event);
  focusDimension(cell, group, to);
}

function length(cell, group) {
  return (group === "key" ? cell.q : cell.value).length;
}

// The dimension of the largest size: where walking through them starts.
function largestOf(vector) {
  const sizes = vector.map(Math.abs);
  return sizes.indexOf(Math.max(...sizes));
}

function mark(cell, group, d) {
  cell.marks[group] = d;
  const slider = cell.sliders[group];
  slider.setAttribute("aria-valuenow", d ?? 0);
  slider.setAttribute("aria-valuetext", spoken(cell, group, d ?? 0));
  (group === "key" ? showKeyNumbers : showValueNumbers)(cell, d);
}

function spoken(cell, group, d) {
  const { q, k, products, running, value: v, part, output } = cell;
  const said =
    group === "key"
      ? { q: q[d], k: k[d], product: products[d], "sum so far": running[d] }
      : { v: v[d], "weight times v": part[d], output: output[d] };
  const numbers = Object.entries(said).map(([name, x]) => `${name} ${decimals(x)}`);
  return `dimension ${d}: ${numbers.join(", ")}`;
}

function draw(cell) {
  if (!cell.header || !cell.root.clientWidth) return; // not shown; the observer calls again
  const { stages, colours, header } = cell;
  drawKeys(cell);
  const dot = { value: header.dot, pale: true };
  drawLengths(stages.scale.canvases[0], [dot, { value: header.score }], colours);
  drawMask(stages.mask.canvases[0], cell.allowed, header.cell[1], colours);
  drawValues(cell);
  if (header.norms) {
    const [ofPart, ofOutput] = header.norms;
    const lengths = [{ value: ofOutput, pale: true }, { value: ofPart }];
    drawLengths(stages.projected.canvases[0], lengths, colours);
  }
  cell.root.dataset.nonce = cell.nonce;
}

function drawKeys({ stages, marks, colours, q, k, products, running }) {
  const [canvasQ, canvasK] = stages.vectors.canvases;
  drawBars(canvasQ, [{ values: q }], marks.key, colours);
  drawBars(canvasK, [{ values: k }], marks.key, colours);
  drawBars(stages.products.canvases[0], [{ values: products }], marks.key, colours);
  drawSteps(stages.running.canvases[0], running, marks.key, colours);
}

function drawValues({ stages, marks, colours, value: v, part, output }) {
  const within = (whole) => [{ values: whole, pale: true }, { values: part, narrow: true }];
  drawBars(stages.value.canvases[0], within(v), marks.value, colours);
  drawBars(stages.output.canvases[0], within(output), marks.value, colours);
}
