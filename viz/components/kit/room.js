// How high a picture may be that is to be seen whole: down to the lower edge of the window.

const SCROLLER = '[data-testid="stMain"], [data-scroller]'; // Streamlit's, and that of a page without a server
const MARGIN = 20; // px below it
const FOOT = ".st-key-foot"; // a line below a picture in its column, which is to be seen with it
const GAP = 16; // px between the two
const NARROW = 1000; // px of a window in which pictures stand below each other, as high as they like

// In px from the top of an element, wherever the page is scrolled to; Infinity where pictures are
// not fitted: on a narrow screen, and in a page of its own.
export function roomBelow(node) {
  const scroller = document.querySelector(SCROLLER);
  if (!scroller || isNarrow()) return Infinity;
  const top = node.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
  return scroller.clientHeight - top - scroller.scrollTop - MARGIN - footOf(node);
}

function footOf(node) {
  const host = node.getRootNode().host ?? node;
  const foot = host.closest('[data-testid="stColumn"]')?.querySelector(FOOT);
  return foot ? foot.offsetHeight + GAP : 0;
}

// How far an element is from the left and the top of another, in px.
export function cornerOf(node, other) {
  const [here, there] = [node.getBoundingClientRect(), other.getBoundingClientRect()];
  return [here.left - there.left, here.top - there.top];
}

// Whether pictures stand below each other in the app.
export function isNarrow() {
  return window.innerWidth <= NARROW && document.querySelector(SCROLLER) !== null;
}

// The height of the window that a person sees, in px: a frame that is as high as its content has none.
export function windowHeight() {
  const frame = window.frameElement; // null where there is none, or none of the same origin
  return (frame?.hasAttribute("data-fits") ? window.parent : window).innerHeight;
}

// Of what is to be read, in px: page.css says what it is.
export function typeSize() {
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  return window.innerWidth >= 1800 || isOnStage() ? rem : 0.875 * rem;
}

// Whether the page is one for a wall: viz/talks/stage.py says so.
export function isOnStage() {
  return getComputedStyle(document.documentElement).getPropertyValue("--stage-type") !== "";
}

// Whether only what a first visit needs is in sight: viz/ui/first_visit.py says so.
export function isFew() {
  return getComputedStyle(document.documentElement).getPropertyValue("--more").trim() === "none";
}

// changed() is called when the room of an element may be another. Returns what ends that.
export function onRoom(node, changed) {
  let known = "";
  const look = () => {
    const now = `${node.clientWidth} ${roomBelow(node)} ${isFew()}`;
    if (now !== known) changed();
    known = now;
  };
  const observer = new ResizeObserver(look);
  observer.observe(node);
  const scroller = document.querySelector(SCROLLER);
  for (const each of scroller ? [scroller, scroller.firstElementChild] : []) observer.observe(each);
  return () => observer.disconnect();
}
