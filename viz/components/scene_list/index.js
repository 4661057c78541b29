// The scenes of a story that is put together: each with what it shows in small, drawn when it is in
// sight. One is dragged to another place by its grip; the buttons Up and Down do it by keyboard.

import { mounted } from "../kit/mounted.js";
import { applyPalette, element } from "../kit/page.js";
import { hasModifier } from "../kit/roving.js";
import { follow } from "../kit/scene.js";
import { accepts, tell } from "../kit/sync.js";

const EDGE = 24; // px at which a list that is longer than its place goes on below what is dragged
const STEP = 6; // px a frame

// Not a picture: nobody copies it as a figure.
export default mounted("scene_list", create, update);

function create(root, sync) {
  const view = { root, sync, items: [], held: null };
  const nav = element("nav");
  nav.setAttribute("aria-label", "Scenes");
  view.list = element("ol");
  nav.append(view.list);
  root.append(nav);
  view.dispose = () => {};
  return view;
}

// An order that the server has not heard of yet stays; so does what is being dragged.
function update(view, { palette, scenes, at }) {
  applyPalette(view.root, palette);
  if (!accepts(view.sync, "order", null) || view.held) return;
  while (view.items.length < scenes.length) view.items.push(itemOf(view));
  view.items.splice(scenes.length).forEach((item) => item.node.remove());
  scenes.forEach((scene, i) => fill(view.items[i], scene, i === at));
  view.list.append(...view.items.filter(({ node }, i) => view.list.children[i] !== node).map(({ node }) => node));
}

function itemOf(view) {
  const item = { node: element("li"), link: element("a"), shows: element("small") };
  item.picture = element("img");
  Object.assign(item.picture, { alt: "", loading: "lazy", decoding: "async", draggable: false });
  item.picture.onerror = () => item.picture.classList.add("missing");
  item.picture.onload = () => {
    const { naturalWidth, naturalHeight, classList } = item.picture;
    classList.remove("missing");
    classList.toggle("tall", naturalHeight > naturalWidth);
  };
  const grip = element("span", "grip", "⠿");
  grip.title = "Drag it to another place";
  grip.setAttribute("aria-hidden", "true"); // the buttons beside the form do the same
  grip.onpointerdown = (event) => hold(view, item, event);
  const [frame, words] = [element("span", "picture"), element("span", "words")];
  const none = element("span", "none", "no picture");
  none.title = "This page has none in small, or its checkpoint is not here";
  frame.append(item.picture, none);
  frame.onclick = () => item.link.click();
  words.append(item.link, " ", item.shows);
  item.link.onclick = (event) => {
    if (hasModifier(event) || event.shiftKey) return;
    event.preventDefault();
    follow(item.link.href);
  };
  item.node.append(grip, frame, words);
  return item;
}

function fill(item, { key, heading, shows, link, picture }, isOpen) {
  item.key = key;
  item.node.classList.toggle("open", isOpen);
  item.link.textContent = heading;
  item.link.href = new URL(link, document.baseURI).href;
  if (isOpen) item.link.setAttribute("aria-current", "true");
  else item.link.removeAttribute("aria-current");
  item.shows.textContent = shows;
  const source = new URL(picture, document.baseURI).href;
  if (item.picture.src !== source) item.picture.src = source;
}

function hold(view, item, event) {
  if (event.button || view.held) return;
  event.preventDefault();
  const grip = event.currentTarget;
  const before = [...view.items];
  view.held = item;
  item.node.classList.add("held");
  grip.setPointerCapture(event.pointerId);
  const away = new AbortController();
  const { signal } = away;
  const end = (isKept) => {
    away.abort();
    cancelAnimationFrame(view.frame);
    item.node.classList.remove("held");
    if (!isKept) order(view, before);
    view.held = null;
    if (view.items.some((each, i) => each !== before[i])) tell(view.sync, "order", view.items.map(({ key }) => key));
  };
  let y = event.clientY;
  const go = () => {
    drag(view, item, y);
    view.frame = requestAnimationFrame(go); // the list goes on while the pointer rests at its edge
  };
  go();
  grip.addEventListener("pointermove", (moved) => (y = moved.clientY), { signal });
  grip.addEventListener("pointerup", () => end(true), { signal });
  grip.addEventListener("pointercancel", () => end(false), { signal });
  window.addEventListener("keydown", ({ key }) => key === "Escape" && end(false), { signal, capture: true });
}

// It takes the place of the scene that it is above.
function drag(view, item, y) {
  const { top, bottom } = view.list.getBoundingClientRect();
  if (y < top + EDGE) view.list.scrollTop -= STEP;
  if (y > bottom - EDGE) view.list.scrollTop += STEP;
  const others = view.items.filter((each) => each !== item);
  const place = others.filter(({ node }) => middleOf(node) < y).length;
  if (view.items[place] !== item) order(view, others.toSpliced(place, 0, item));
}

function middleOf(node) {
  const { top, height } = node.getBoundingClientRect();
  return top + height / 2;
}

// What has the pointer stays where it is in the document, or would lose it: the others move past it.
function order(view, items) {
  const held = items.indexOf(view.held);
  view.items = items;
  items.slice(0, held).forEach(({ node }) => view.held.node.before(node));
  items.slice(held + 1).reverse().forEach(({ node }) => view.held.node.after(node));
}
