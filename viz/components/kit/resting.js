// A mouse that was left lying where it is points at nothing in what comes below it, until it is moved:
// in the next scene of a talk, which is given by keys; where a panel, or a button, was that it pressed.
// What moves below it would be pointed at for as long as that is there.

const REST = "headscopeRest"; // of the window, as each mount has modules of its own
const COMES = ["pointerover", "pointerenter", "pointermove", "mouseover", "mouseenter", "mousemove"];
const LEAVES = ["pointerout", "pointerleave", "mouseout", "mouseleave"];
const ARRIVES = ["pointerover", "pointerenter", "mouseover", "mouseenter"];
const HOVERED = { "--under-rest": "transparent", "--shown-under-rest": "0" }; // a ground; a button's opacity
const STEP = 3; // px: less is a table that shakes

export function restPointer() {
  const rest = (window[REST] ??= begin());
  if (!rest.isHeld && rest.at) tellAt(rest.at, LEAVES);
  hold(rest, true);
  rest.from = rest.at;
}

function hold(rest, isHeld) {
  rest.isHeld = isHeld;
  const { style } = document.documentElement;
  for (const [name, value] of Object.entries(HOVERED)) {
    if (isHeld) style.setProperty(name, value);
    else style.removeProperty(name);
  }
}

// at: where the pointer was last; from: where it was when it was left lying, null: nobody knows yet.
function begin() {
  const rest = { at: null, from: null, isHeld: false };
  for (const name of COMES) window.addEventListener(name, (event) => hear(rest, event), true);
  return rest;
}

function hear(rest, event) {
  if (!event.isTrusted || (event.pointerType && event.pointerType !== "mouse")) return;
  rest.at = event;
  if (!rest.isHeld) return;
  rest.from ??= event;
  if (Math.hypot(event.clientX - rest.from.clientX, event.clientY - rest.from.clientY) < STEP) {
    event.stopImmediatePropagation();
    return;
  }
  hold(rest, false);
  tellAt(event, ARRIVES); // it has been there all the time
}

// To all that is below the pointer, from the innermost on.
function tellAt({ clientX, clientY }, names) {
  const at = { clientX, clientY, composed: true, relatedTarget: null };
  for (const name of names) {
    const make = name.startsWith("pointer") ? PointerEvent : MouseEvent;
    const bubbles = /(over|out)$/.test(name);
    const all = pathAt(clientX, clientY);
    for (const node of bubbles ? all.slice(0, 1) : all) node.dispatchEvent(new make(name, { ...at, bubbles }));
  }
}

function pathAt(x, y) {
  let node = document.elementFromPoint(x, y);
  while (node?.shadowRoot?.elementFromPoint(x, y) && node.shadowRoot.elementFromPoint(x, y) !== node) {
    node = node.shadowRoot.elementFromPoint(x, y);
  }
  const path = [];
  for (; node; node = node.parentNode ?? node.host) if (node instanceof Element) path.push(node);
  return path;
}
