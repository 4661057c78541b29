// The search of a decoding as a tree: what was written, the other hypotheses, and what was dropped.

import { host } from "../kit/host.js";
import { announcePointing, applyPalette, markPointed, onToken } from "../kit/page.js";
import { onRoom } from "../kit/room.js";
import { hasModifier, takeKey } from "../kit/roving.js";
import { accepts, hold, tell } from "../kit/sync.js";
import { unpack } from "../kit/unpack.js";
import { createCamera, fit, inSight, isHeld, reach, roomOf, sightOf, zoom } from "./camera.js";
import { createList, drawList } from "./list.js";
import { isDrawn, markWritten, nameOf, readSearch } from "./nodes.js";
import { createReadout, readOut } from "./readout.js";
import { createTree, drawTree, markTree } from "./tree.js";
import { after } from "./walking.js";

const LISTED = 560; // px of width below which the tree is an indented list
const BESIDE = 1 / 4; // of the tree's width, which is seen on either side of what others choose

export default host("search_tree", create, update);

function create(root, sync) {
  const view = { root, sync, at: null, chosen: null, pointed: null, isFolded: true, isBare: false };
  view.opened = new Set(); // names of what somebody has opened in the tree of this source
  view.readout = createReadout({
    branch: () => goOn(view, view.chosen),
    zoom: (factor) => zoom(view.camera, factor),
    fit: () => fit(view.camera),
    bare: () => redraw(view, { isBare: !view.isBare }),
  });
  view.tree = createTree();
  view.camera = createCamera(view.tree);
  view.list = createList((place) => choose(view, place));
  // The tree comes before its tools, as one comes to it by Tab.
  root.replaceChildren(view.readout.text, view.tree.node, view.list, view.readout.tools, view.readout.foot);
  const silence = onToken((token) => markPointed(root, token));
  announcePointing(view.tree.node);
  const announced = view.tree.node.onpointerover;
  view.tree.node.onpointerover = (event) => {
    announced(event);
    point(view, placeOf(event));
  };
  view.tree.node.onpointerleave = () => point(view, null);
  view.tree.node.onclick = (event) => {
    const place = placeOf(event);
    if (place !== null && !view.camera.isDragged) press(view, place);
  };
  view.tree.node.addEventListener("focusin", (event) => arrive(view, placeOf(event)));
  view.tree.node.onkeydown = (event) => onKey(view, event);
  const endRoom = onRoom(root, () => view.search && layOut(view));
  view.complete = () => view.tree.later?.();
  view.dispose = () => {
    clearTimeout(view.tree.timer);
    endRoom();
    silence();
  };
  return view;
}

// The place of a node that an event is about; -1: of what is folded; null: of none.
function placeOf({ target }) {
  const node = target.closest?.("[data-place]");
  return node ? Number(node.dataset.place) : null;
}

function update(view, { nonce, palette, node, end, payload }) {
  const { root, sync } = view;
  const drawn = `${nonce} ${palette.name} ${end}`;
  if (drawn !== view.drawn) {
    const { name, source } = view.search ?? {};
    view.drawn = drawn;
    view.search = readSearch(unpack(payload));
    markWritten(view.search, end);
    applyPalette(root, palette);
    view.isOther = view.search.name !== name;
    if (view.search.source !== source) view.opened.clear(); // another text may begin with the same words
    if (view.isOther) Object.assign(view, { isFolded: !view.opened.has(foldOf(view)), pointed: null, at: null });
    view.width = 0;
  }
  const { chosen } = view;
  if (accepts(sync, "node", node)) view.chosen = view.search.ids.get(node) ?? null;
  const isNew = view.isOther || view.chosen !== chosen;
  if (isNew && view.isFolded && view.search.fold.includes(view.chosen)) {
    Object.assign(view, { isFolded: false, width: 0, fitted: 0 });
  }
  layOut(view, isNew);
  root.dataset.nonce = nonce;
}

// Draws anew where the room is another one; else what is chosen alone. isNew: another node is.
function layOut(view, isNew = false) {
  const { root, tree, list, search } = view;
  const isList = root.clientWidth < LISTED;
  let isFitted = false;
  if (root.clientWidth && root.clientWidth !== view.width) {
    const isSame = view.width === 0 && root.clientWidth === view.fitted; // only its looks are others
    isFitted = !isList && (view.isOther || !isSame);
    view.fitted = root.clientWidth;
    view.width = root.clientWidth;
    tree.node.hidden = isList;
    list.hidden = !isList;
    root.classList.toggle("listed", isList);
    const start = performance.now();
    const room = roomOf(view.camera);
    if (isList) drawList(list, view);
    else drawTree(tree, view, isFitted ? reach(room) : sightOf(view.camera));
    root.dataset.drawMs = (performance.now() - start).toFixed(1);
    redrawWithFonts(view);
    if (isFitted) fit(view.camera, room);
    view.isOther = false;
  }
  view.at = isDrawn(search, view.at, view) ? view.at : view.chosen;
  mark(view);
  if (isFitted || isNew) bring(view);
}

// What is chosen comes into sight, unless somebody moves the tree at that moment.
function bring({ tree, camera, chosen }) {
  const box = tree.boxes.get(chosen);
  if (box && !tree.node.hidden && !isHeld(camera)) inSight(camera, box, BESIDE * camera.seen[0]);
}

// The ruler measures with the type that is there.
function redrawWithFonts(view) {
  if (document.fonts.status === "loaded") return;
  document.fonts.ready.then(() => {
    view.width = 0;
    if (view.root.isConnected) layOut(view);
  });
}

function redraw(view, change) {
  Object.assign(view, change);
  const room = roomOf(view.camera);
  drawTree(view.tree, view, reach(room));
  fit(view.camera, room);
  mark(view);
  bring(view);
}

function mark(view) {
  view.at = markTree(view.tree, view);
  readOut(view.readout, view);
  for (const node of view.list.querySelectorAll("[data-place]")) {
    const isChosen = Number(node.dataset.place) === view.chosen;
    node.classList.toggle("chosen", isChosen);
    node.setAttribute("aria-pressed", isChosen);
  }
}

function point(view, place) {
  if (place === view.pointed || !view.search) return;
  view.pointed = place;
  readOut(view.readout, view);
}

function press(view, place) {
  if (place < 0) unfold(view);
  else choose(view, place);
}

// Every picture goes to what is chosen; the server hears of it at once.
function choose(view, place) {
  view.chosen = place;
  view.at = place;
  tell(view.sync, "node", newsOf(view, place));
  mark(view);
}

function goOn(view, place) {
  if (place === null || place < 0) return;
  hold(view.sync, "node", newsOf(view, place));
  tell(view.sync, "branch", newsOf(view, place));
}

function newsOf({ search }, place) {
  return [search.name, search.nodes[place].id];
}

// The name of what is folded.
function foldOf({ search }) {
  const [first] = search.fold;
  return first === undefined ? "" : `fold ${nameOf(search, first)}`;
}

function unfold(view) {
  const [first] = view.search.fold;
  view.opened.add(foldOf(view));
  redraw(view, { isFolded: false });
  walk(view, first);
}

function arrive(view, place) {
  if (place === null) return;
  view.at = place;
  view.pointed = place;
  readOut(view.readout, view);
}

function walk(view, place) {
  if (place === null || place === undefined) return;
  view.at = place;
  view.tree.later?.();
  mark(view);
  inSight(view.camera, view.tree.boxes.get(place));
  view.tree.elements.get(place).focus({ preventScroll: true });
}

const ZOOMS = { "+": 1.25, "=": 1.25, "-": 0.8 };

function onKey(view, event) {
  const { key } = event;
  const place = placeOf(event);
  if (place === null || hasModifier(event)) return;
  if (key === "Enter" && place < 0) unfold(view);
  else if (key === "Enter") goOn(view, place);
  else if (key === " ") press(view, place);
  else if (key in ZOOMS) zoom(view.camera, ZOOMS[key]);
  else if (key === "0") fit(view.camera);
  else {
    const next = after(key, place, view);
    if (next === undefined) return;
    walk(view, next);
  }
  takeKey(event);
}
