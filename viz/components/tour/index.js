// What the app is, in one line, and the tour: a panel beside what it points at, which is ringed.

import { isKept, keep } from "../kit/kept.js";
import { mounted } from "../kit/mounted.js";
import { applyPalette, element } from "../kit/page.js";
import { onCards } from "../kit/word_cards.js";
import { restPointer } from "../kit/resting.js";
import { takeKey } from "../kit/roving.js";
import { placeOf } from "./places.js";
import { bringIntoSight, stand } from "./standing.js";

const KNOWN = "tour"; // seen, or its line closed
const START = "#tour";

// Not a picture: nobody copies it as a figure.
export default mounted("tour", create, update);

function create(root) {
  const tour = { root, steps: [], at: -1, line: element("p", "line dim") };
  tour.words = element("span", "words");
  tour.says = element("span");
  tour.words.append(tour.says);
  tour.further = element("span", "further");
  tour.start = button("start", "Tour", () => (tour.steps.length ? begin(tour) : goTo(tour.begins)));
  tour.start.append(element("span", "long", ", 60 s"));
  tour.close = button("close", "×", () => forget(tour));
  tour.close.setAttribute("aria-label", "Close this line");
  tour.line.append(tour.words, tour.further, tour.start, tour.close);
  makePanel(tour);
  if (window.top === window) root.append(tour.line, tour.ring, tour.panel); // else it is a figure in a page of others
  const away = new AbortController();
  const { signal } = away;
  window.addEventListener("keydown", (event) => onKey(tour, event), { capture: true, signal });
  window.addEventListener("hashchange", () => askedFor(tour), { signal });
  const silence = onCards(() => setTimeout(() => tour.at >= 0 && say(tour))); // tokens have their marks now
  tour.dispose = () => {
    away.abort();
    silence();
    end(tour);
  };
  return tour;
}

function makePanel(tour) {
  const panel = element("div", "panel");
  Object.assign(panel, { popover: "manual", tabIndex: -1 });
  panel.setAttribute("role", "dialog");
  panel.setAttribute("aria-labelledby", "tour-title");
  panel.setAttribute("aria-describedby", "tour-text");
  tour.title = element("h2");
  tour.text = element("p");
  Object.assign(tour.title, { id: "tour-title" });
  Object.assign(tour.text, { id: "tour-text" });
  tour.more = element("p", "more");
  tour.count = element("span", "count dim");
  tour.back = button("back", "Back", () => go(tour, tour.at - 1));
  tour.next = button("next", "Next", () => go(tour, tour.at + 1));
  const skip = button("skip", "Skip", () => end(tour));
  tour.skip = skip;
  const bar = element("div", "bar");
  bar.append(tour.count, skip, tour.back, tour.next);
  panel.append(tour.title, tour.text, tour.more, bar);
  tour.panel = panel;
  tour.ring = element("div", "ring");
  tour.ring.popover = "manual";
}

function button(className, text, act) {
  const node = element("button", className, text);
  node.type = "button";
  node.onclick = act;
  return node;
}

// begins: the address at which the tour begins, where it is that of another page.
function update(tour, { palette, line, steps, links, begins }) {
  applyPalette(tour.root, palette);
  [tour.says.textContent, tour.further.textContent] = line;
  tour.words.title = line[0]; // it may be cut off
  tour.line.classList.toggle("elsewhere", !steps.length);
  Object.assign(tour, { steps, links, begins });
  showLine(tour);
  if (tour.at >= 0) say(tour); // the words may be of another model
  askedFor(tour);
}

function showLine({ root }) {
  root.classList.toggle("known", isKept(KNOWN));
}

function askedFor(tour) {
  if (tour.steps.length && window.top === window && takeStart()) begin(tour);
}

// Whether the address asks for the tour; it is asked once.
function takeStart() {
  if (location.hash !== START) return false;
  history.replaceState(history.state, "", location.pathname + location.search);
  return true;
}

function forget(tour) {
  keep(KNOWN, true);
  showLine(tour);
  tour.start.focus();
}

function begin(tour) {
  if (tour.at < 0) tour.from = tour.root.getRootNode().activeElement ?? tour.start;
  tour.ring.showPopover();
  tour.panel.showPopover();
  go(tour, 0);
}

// Beyond the last step it is over.
function go(tour, to) {
  if (to < 0) return;
  if (to >= tour.steps.length) {
    end(tour);
    return;
  }
  tour.at = to;
  restPointer(); // the panel is elsewhere now, and a picture where the mouse is
  say(tour);
  bringIntoSight(tour.place.node);
  tour.next.focus({ preventScroll: true });
  cancelAnimationFrame(tour.frame);
  follow(tour);
}

function say(tour) {
  const { at, steps } = tour;
  const { title, text, place } = steps[at];
  tour.place = placeOf(place);
  const { word, words } = tour.place;
  tour.title.textContent = title;
  tour.text.textContent = steps[at][words] || text.replaceAll("{word}", word);
  const isLast = at === steps.length - 1;
  tour.more.hidden = !isLast;
  if (isLast) tour.more.replaceChildren(...Object.entries(tour.links).map(([name, href]) => linkTo(tour, name, href)));
  tour.count.textContent = `${at + 1} of ${steps.length}`;
  tour.back.disabled = at === 0;
  tour.next.textContent = isLast ? "Done" : "Next";
  tour.skip.hidden = isLast;
}

// The app follows links of its own that stand in the page: this one stands in for one of them.
function linkTo(tour, name, href) {
  const link = Object.assign(element("a", "", name), { href });
  link.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    end(tour);
    goTo(href);
  };
  return link;
}

function goTo(href) {
  const own = Object.assign(document.createElement("a"), { href });
  own.dataset.state = "";
  document.body.append(own);
  own.click();
  own.remove();
}

// What is pointed at may move, be drawn anew, and be done: then the step goes on with what it brought.
function follow(tour) {
  if (tour.at < 0) return;
  if (placeOf(tour.steps[tour.at].place).node !== tour.place.node) say(tour);
  stand(tour.panel, tour.ring, tour.place.node);
  tour.frame = requestAnimationFrame(() => follow(tour));
}

function end(tour) {
  if (tour.at < 0) return;
  cancelAnimationFrame(tour.frame);
  tour.at = -1;
  restPointer();
  const held = tour.panel.contains(tour.root.getRootNode().activeElement);
  for (const node of [tour.panel, tour.ring]) {
    if (node.isConnected) node.hidePopover();
  }
  keep(KNOWN, true);
  showLine(tour);
  if (held && tour.root.isConnected) (tour.from?.checkVisibility() ? tour.from : tour.start).focus();
}

function onKey(tour, event) {
  if (tour.at < 0) return;
  const isHere = event.composedPath().includes(tour.panel);
  if (event.key === "Escape") end(tour);
  else if (isHere && event.key === "ArrowRight") go(tour, tour.at + 1);
  else if (isHere && event.key === "ArrowLeft") go(tour, tour.at - 1);
  else return;
  takeKey(event);
}
