// What is seen of the tree: pan and zoom are one transform of one element.

import { isOnStage, roomBelow, windowHeight } from "../kit/room.js";

const [LEAST, MOST] = [0.3, 2.5];
const LEGIBLE = 0.86; // of its size, to which a tree is made smaller so that it is seen whole
const LEGIBLE_ON_WALL = 0.7; // whose type is larger
const SHARE = 0.42; // of the window's height that a tree takes at most
const DRAGGED = 4; // px from which a press is a drag
const EDGE = 16; // px between what is walked to and the edge
const ROLLED = 500; // ms after which a wheel is at rest

export function createCamera(tree) {
  const camera = { tree, x: 0, y: 0, scale: 1, seen: [0, 0], start: null, isDragged: false, rolled: -ROLLED };
  const { node } = tree;
  node.addEventListener("pointerdown", (event) => {
    camera.isDragged = false;
    camera.tree.later?.();
    if (event.button === 0) camera.start = [event.clientX - camera.x, event.clientY - camera.y];
  });
  node.addEventListener("pointermove", (event) => {
    const { start } = camera;
    if (!start || !(event.buttons & 1)) return;
    const [x, y] = [event.clientX - start[0], event.clientY - start[1]];
    if (!camera.isDragged && Math.hypot(x - camera.x, y - camera.y) < DRAGGED) return;
    if (!camera.isDragged) node.setPointerCapture(event.pointerId);
    camera.isDragged = true;
    move(camera, x, y);
  });
  for (const name of ["pointerup", "pointercancel"]) node.addEventListener(name, () => (camera.start = null));
  node.addEventListener("wheel", (event) => {
    const isAcross = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
    if (!event.ctrlKey && !isAcross) return; // the page is scrolled
    event.preventDefault();
    camera.rolled = performance.now();
    camera.tree.later?.();
    const { left, top } = node.getBoundingClientRect();
    const across = event.deltaX || event.deltaY;
    if (!event.ctrlKey) move(camera, camera.x - across, camera.y);
    else zoom(camera, Math.exp(-event.deltaY / 200), event.clientX - left, event.clientY - top);
  }, { passive: false });
  return camera;
}

// By a factor; the point at (x, y) of the viewport keeps its place.
export function zoom(camera, factor, x = camera.seen[0] / 2, y = 0) {
  camera.tree.later?.();
  const scale = Math.min(MOST, Math.max(LEAST, camera.scale * factor));
  const by = scale / camera.scale;
  camera.scale = scale;
  move(camera, x - (x - camera.x) * by, y - (y - camera.y) * by);
}

// As much of the tree as can be read, from its left: all of it, where it is not much too large. room:
// as roomOf has it, which asks the page and so comes before anything that the page would lay out.
export function fit(camera, room = roomOf(camera)) {
  const { node, size: [width, height] } = camera.tree;
  const { wide, high } = room;
  camera.scale = Math.min(1, Math.max(least(), Math.min(wide / width, high / height)));
  camera.seen = [wide, Math.round(Math.min(high, Math.ceil(height * camera.scale) + 8))];
  node.style.height = `${camera.seen[1]}px`;
  move(camera, 0, 0);
}

// How much of a window is for the tree: px, of its width and of its height.
export function roomOf({ tree: { node } }) {
  return { wide: node.clientWidth, high: isOnStage() ? roomBelow(node) - 60 : SHARE * windowHeight() };
}

// How far from its left and top a tree is seen at most, in its own pixels, once it is fitted.
export function reach({ wide, high }) {
  return { right: wide / least(), bottom: high / least() };
}

// The same of a tree that stays as it is.
export function sightOf({ x, y, scale, seen: [wide, high] }) {
  return { right: (wide - x) / scale, bottom: (high - y) / scale };
}

function least() {
  return isOnStage() ? LEGIBLE_ON_WALL : LEGIBLE;
}

function move(camera, x, y) {
  const { size: [width, height] } = camera.tree;
  const [wide, high] = camera.seen;
  const within = (at, whole, seen) => Math.min(0, Math.max(Math.min(0, seen - whole), at));
  camera.x = within(x, width * camera.scale, wide);
  camera.y = within(y, height * camera.scale, high);
  const { x: left, y: top, scale } = camera;
  camera.tree.world.style.transform = `translate(${left}px, ${top}px) scale(${scale})`;
}

// Whether a person moves the tree right now.
export function isHeld({ start, rolled }) {
  return start !== null || performance.now() < rolled + ROLLED;
}

// As little as brings a node into sight, so much of what is beside it with it. box: of drawTree, whose
// y is that of its middle: to ask the node itself would lay the page out.
export function inSight(camera, box, beside = EDGE) {
  const [wide, high] = camera.seen;
  const shift = (at, start, size, seen, edge) => {
    const [first, last] = [start * camera.scale + at, (start + size) * camera.scale + at];
    if (first < edge) return at + edge - first;
    return last > seen - edge ? at + seen - edge - last : at;
  };
  const x = shift(camera.x, box.x, box.width, wide, beside);
  const y = shift(camera.y, box.y - box.height / 2, box.height, high, EDGE);
  move(camera, x, y);
}
