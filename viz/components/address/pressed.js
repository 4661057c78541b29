// What is drawn anew under a pointer that is down: a table that grows, words of a text that is still
// written. Browsers send no click then, or send it to what holds both, as what was pressed is gone at
// the release. What stands for the same in its place is clicked all the same.

const STILL = 5; // Pixels that a pointer moves at most between press and release of a click.
const DATA = ["token", "side", "position", "head", "all", "place", "candidate", "row", "column"];

// path: from what the pointer that is down has pressed to the window; at: where; isDone: clicked by us.
const pressed = { path: [], at: [0, 0], isDone: false };

// What comes to lie over the pointer, as the drawer of a card, is not meant by its next press: until
// it moves, or for a moment after a touch, that goes to what lay there (html[data-still]).
const COMES = ".st-key-drawer";
const TOUCH = 600; // ms

export function watchPresses() {
  window.addEventListener("pointerdown", rest, true);
  window.addEventListener("pointermove", move, true);
  window.addEventListener("pointerdown", press, true);
  window.addEventListener("pointerup", release, true);
  window.addEventListener("click", pass, true);
}

function rest({ target, clientX, clientY, pointerType }) {
  if (target.closest?.(COMES)) return;
  pressed.rest = [clientX, clientY];
  document.documentElement.dataset.still = "";
  if (pointerType === "touch") setTimeout(() => delete document.documentElement.dataset.still, TOUCH);
}

function move({ clientX, clientY }) {
  if (!pressed.rest || Math.hypot(clientX - pressed.rest[0], clientY - pressed.rest[1]) <= STILL) return;
  pressed.rest = null;
  delete document.documentElement.dataset.still;
}

// A touch is a click on what is there when it ends.
function press(event) {
  const isClick = !event.button && event.pointerType !== "touch";
  Object.assign(pressed, { path: isClick ? pathOf(event) : [], at: [event.clientX, event.clientY], isDone: false });
}

function release(event) {
  const { path, at } = pressed;
  pressed.path = [];
  if (!path.length || path[0].isConnected || hasModifier(event)) return;
  if (Math.hypot(event.clientX - at[0], event.clientY - at[1]) > STILL) return;
  const twin = twinOf(path.filter((node) => !node.isConnected), pathOf(event));
  if (!twin) return;
  twin.click();
  pressed.isDone = true;
  setTimeout(() => Object.assign(pressed, { isDone: false })); // a click by the browser comes at once
}

// The click that some browsers send to what holds both would be a second one.
function pass(event) {
  if (!event.isTrusted || !pressed.isDone) return;
  pressed.isDone = false;
  event.stopImmediatePropagation();
  event.preventDefault();
}

function hasModifier({ ctrlKey, metaKey, altKey, shiftKey }) {
  return ctrlKey || metaKey || altKey || shiftKey;
}

function pathOf(event) {
  return event.composedPath().filter((node) => node instanceof Element);
}

// Below the pointer, else a link to the same elsewhere on the page: rows of a table change places.
function twinOf(gone, now) {
  const names = gone.map(nameOf);
  const under = now.find((node) => names.includes(nameOf(node)));
  const link = gone.find((node) => node.href);
  return under ?? (link && [...document.querySelectorAll("a[href]")].find(({ href }) => href === link.href));
}

// What it stands for, not what is said of it: "Cross L2 H3" of "Cross L2 H3: 0.998, off".
function nameOf(node) {
  const data = DATA.filter((name) => name in node.dataset).map((name) => node.dataset[name]);
  const text = node.getAttribute("aria-label") ?? node.textContent;
  const name = node.href ?? (data.length ? data.join() : text.split(/[:,]/)[0]);
  return `${node.localName} ${node.classList[0] ?? ""} ${name}`;
}
