// The tree itself: a node per entry, and one path for each look of an edge. What is drawn once is
// panned and zoomed by one transform.

import { element, setPiece } from "../kit/page.js";
import { typeSize } from "../kit/room.js";
import { drawnNodes, ranksOf } from "./nodes.js";
import { briefly, spoken, two } from "./readout.js";
import { createRuler } from "./ruler.js";

const SVG = "http://www.w3.org/2000/svg";
const GAP = 24; // px between columns, for the edges
const LINE = 1.6; // rows, in sizes of the type
const LONG = 12; // characters from which on a piece may be wider than there is room for
const REST = 150; // ms that a page has to paint what is in sight, before nodes that are not are made
const PART = 60; // of these, nodes that are made at once
const LOOKS = ["dropped", "living", "written", "end"]; // edges, from below upwards

export function createTree() {
  const node = element("div", "viewport");
  node.setAttribute("role", "tree");
  node.setAttribute("aria-label", "The search: left and right lead along a hypothesis, up and down "
    + "to the others of a step; Enter goes on from a node, the space bar chooses it");
  const world = element("div", "world");
  const edges = document.createElementNS(SVG, "svg");
  edges.setAttribute("aria-hidden", "true");
  const paths = Object.fromEntries(LOOKS.map((look) => [look, document.createElementNS(SVG, "path")]));
  for (const look of LOOKS) {
    paths[look].setAttribute("class", `edge ${look}`);
    edges.append(paths[look]);
  }
  const nodes = element("div", "nodes");
  world.append(edges, nodes);
  node.append(world);
  return { node, world, edges, paths, nodes, elements: new Map(), boxes: new Map(), marked: [], later: null, timer: 0, size: [0, 0] };
}

// sight: { right, bottom }, px from the left and the top to which nodes are made at once. The others
// are measured and made once these are painted, or when they are asked for.
export function drawTree(tree, { search, isFolded, isBare }, sight) {
  const drawn = drawnNodes(search, isFolded, isBare);
  const shown = search.nodes.filter(({ place }) => drawn.has(place));
  const fold = isFolded && search.fold.length ? foldOf(search) : null;
  const all = fold ? [...shown, fold] : shown;
  const ends = shown.filter(({ hypothesis }) => hypothesis >= 0).sort((a, b) => a.hypothesis - b.hypothesis);
  const ruler = createRuler(tree.node); // before there is anything new whose style it would wait for
  const places = createPlaces(all, ruler);
  const { boxes } = places;
  const isNear = ({ place }) => {
    const box = boxes.get(place);
    return box && box.x <= sight.right && box.y - box.height / 2 <= sight.bottom;
  };
  const make = (nodes, more = []) => {
    for (const node of nodes) {
      const made = node === fold ? foldElement(search) : nodeElement(node);
      put(made, boxes.get(node.place));
      tree.elements.set(node.place, made);
    }
    tree.nodes.append(...nodes.map(({ place }) => tree.elements.get(place)), ...more);
  };
  const layOut = () => {
    const right = places.right + GAP;
    drawEdges(tree, { shown, fold, boxes, right, ends });
    if (!places.isWhole) return (tree.size = [Infinity, places.low]);
    tree.size = [right + Math.max(0, ...ends.map((node) => ruler.end(node))), places.low];
    tree.edges.setAttribute("width", tree.size[0]);
    tree.edges.setAttribute("height", tree.size[1]);
    return Object.assign(tree.world.style, { width: `${tree.size[0]}px`, height: `${tree.size[1]}px` });
  };
  places.upTo(sight.right);
  const near = all.filter(isNear);
  const beyond = all.filter((node) => !isNear(node));
  tree.elements = new Map();
  tree.boxes = boxes;
  tree.marked = [];
  tree.nodes.replaceChildren();
  make(near);
  layOut();
  const parts = Array.from({ length: Math.ceil(beyond.length / PART) },
    (_, i) => () => make(beyond.slice(i * PART, (i + 1) * PART)));
  const finish = () => {
    const right = places.right + GAP;
    make([], ends.map((end) => put(endElement(end), { x: right, y: boxes.get(end.place).y })));
    tree.node.dataset.whole = "";
  };
  const measure = () => {
    places.upTo(Infinity);
    layOut();
  };
  makeLater(tree, places.isWhole ? [...parts, finish] : [measure, ...parts, finish], beyond.length > 0);
}

// Does parts one by one, so that the page stays quick between them; tree.later() does what is left of
// them at once.
function makeLater(tree, parts, isLater) {
  clearTimeout(tree.timer);
  delete tree.node.dataset.whole;
  const left = [...parts];
  const end = () => {
    clearTimeout(tree.timer);
    tree.later = null;
    while (left.length) left.shift()();
  };
  const next = () => {
    if (left.length < 2) return end();
    left.shift()();
    tree.timer = setTimeout(next, 0);
  };
  tree.later = end;
  if (isLater) tree.timer = setTimeout(next, REST);
  else end();
}

function nodeElement(node) {
  const { place, piece, logProb, isLiving, isWritten, isForced, column, length } = node;
  const looks = [isWritten ? "written" : isLiving ? "living" : "dropped", isForced ? "forced" : ""];
  const made = element("div", `node ${looks.join(" ")}`);
  Object.assign(made.dataset, { place });
  if (isWritten && place) Object.assign(made.dataset, { side: "target", position: length - 1 });
  made.tabIndex = -1;
  made.setAttribute("role", "treeitem");
  made.setAttribute("aria-level", column + 1);
  made.setAttribute("aria-selected", false);
  made.setAttribute("aria-label", spoken(node));
  if (!place) made.classList.add("root");
  else made.append(...shareElements(logProb), pieceElement(piece));
  return made;
}

function shareElements(logProb) {
  const text = briefly(logProb);
  return text ? [element("span", "share", text)] : [];
}

function pieceElement(piece) {
  const node = element("span", piece[0].length > LONG ? "piece long" : "piece");
  setPiece(node, piece);
  return node;
}

// What stands for the nodes that are folded, in the place of the first of them.
function foldOf({ nodes, fold, words }) {
  return { ...nodes[fold[0]], place: -1, isLiving: true, isWritten: true, piece: [foldText(fold, words), 0] };
}

function foldText(fold, words) {
  return `… ${fold.length} ${words ? "words" : "tokens"} …`;
}

function foldElement({ fold, words, nodes }) {
  const text = foldText(fold, words);
  const node = element("div", "node fold", text);
  node.dataset.place = -1;
  node.tabIndex = -1;
  node.title = "What all hypotheses share: unfold it";
  node.setAttribute("role", "treeitem");
  node.setAttribute("aria-level", nodes[fold[0]].column + 1);
  node.setAttribute("aria-expanded", "false");
  node.setAttribute("aria-selected", false);
  node.setAttribute("aria-label", `${text} which all hypotheses share; Enter unfolds them`);
  return node;
}

// The ranks of a hypothesis at the right edge, and its score.
function endElement(end) {
  const { score, isWritten } = end;
  const node = element("div", `finish ${isWritten ? "written" : ""}`);
  node.setAttribute("aria-hidden", "true"); // its node says the same
  node.append(element("span", "rank", ranksOf(end)), element("span", "score", two(score.total)));
  return node;
}

// Rows and columns in which nothing is drawn take no room. boxes: place -> { x, y, width, height } of
// the nodes that were placed: upTo(x) places those of all columns up to x, and of the next one.
function createPlaces(shown, ruler) {
  const rows = [...new Set(shown.map(({ row }) => row))].sort((a, b) => a - b);
  const lines = new Map(rows.map((row, line) => [row, line]));
  const height = LINE * typeSize();
  const columns = [];
  for (const node of shown) (columns[node.column] ??= []).push(node);
  const left = columns.filter(Boolean);
  const places = { boxes: new Map(), right: 0, low: rows.length * height };
  let x = 0;
  places.upTo = (sight) => {
    for (let isBeyond = false; left.length && !isBeyond; ) {
      isBeyond = x > sight;
      const nodes = left.shift();
      const widths = nodes.map((node) => ruler.node(node));
      nodes.forEach(({ place, row }, i) => {
        places.boxes.set(place, { x, y: (lines.get(row) + 0.5) * height, width: widths[i], height });
      });
      places.right = x + Math.max(...widths);
      x = places.right + GAP;
    }
    places.isWhole = !left.length;
  };
  return places;
}

function put(node, { x, y }) {
  node.style.left = `${x}px`;
  node.style.top = `${y}px`;
  return node;
}

function drawEdges(tree, { shown, fold, boxes, right, ends }) {
  const lines = Object.fromEntries(LOOKS.map((look) => [look, []]));
  const from = (place) => boxes.get(boxes.has(place) ? place : -1);
  for (const node of fold ? [...shown, fold] : shown) {
    if (node.parent < 0 || !boxes.has(node.place)) continue;
    const look = node.isWritten ? "written" : node.isLiving ? "living" : "dropped";
    lines[look].push(edge(from(node.parent), boxes.get(node.place)));
  }
  for (const { place } of ends) {
    if (!boxes.has(place)) continue;
    const { x, y, width } = boxes.get(place);
    lines.end.push(`M${round(x + width + 4)} ${round(y)}H${round(right - 4)}`);
  }
  for (const look of LOOKS) tree.paths[look].setAttribute("d", lines[look].join(""));
}

// Along the row of the parent, and then to the child within the gap before it.
function edge(parent, child) {
  const [start, end, turn] = [parent.x + parent.width, child.x - 3, child.x - GAP + 4];
  const middle = (turn + end) / 2;
  const [from, to] = [round(parent.y), round(child.y)];
  const level = `M${round(start + 3)} ${from}H${round(turn)}`;
  if (from === to) return `M${round(start + 3)} ${from}H${round(end)}`;
  return `${level}C${round(middle)} ${from} ${round(middle)} ${to} ${round(end)} ${to}`;
}

function round(number) {
  return Math.round(10 * number) / 10;
}

// One stop for Tab: what was walked to, else what is chosen, else the first word. Returns its place.
export function markTree(tree, { search, at, chosen }) {
  if ([at, chosen].some((place) => place !== null && !tree.elements.has(place))) tree.later?.();
  const stops = [at, chosen, ...search.nodes[0].children, -1, 0];
  const stop = stops.find((place) => place !== null && tree.elements.has(place)) ?? null;
  for (const node of tree.marked) mark(node, false, false);
  const marked = [...new Set([stop, chosen])].filter((place) => tree.elements.has(place));
  for (const place of marked) mark(tree.elements.get(place), place === stop, place === chosen);
  tree.marked = marked.map((place) => tree.elements.get(place));
  return stop;
}

// A node is made unmarked.
function mark(node, isStop, isChosen) {
  node.tabIndex = isStop ? 0 : -1;
  node.classList.toggle("chosen", isChosen);
  node.setAttribute("aria-selected", isChosen);
}
