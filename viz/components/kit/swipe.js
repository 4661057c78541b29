// A finger that is drawn across a picture turns to the next one, or to the one before.

const FAR = 50; // px
const LEVEL = 2; // times as far across as up or down: else the page is scrolled
const OTHERS = "input, select, .overview"; // what a finger moves by itself

// turn(1): to the left, on; turn(-1): to the right, back.
export function onSwipe(node, turn) {
  let start = null;
  const began = (event) => {
    const [finger, ...others] = event.touches;
    const isOurs = !others.length && !isZoomed() && !event.target.closest(OTHERS);
    start = isOurs ? { x: finger.clientX, y: finger.clientY } : null;
  };
  const ended = (event) => {
    const { clientX, clientY } = event.changedTouches[0];
    const by = start && swiped(clientX - start.x, clientY - start.y);
    start = null;
    if (by) turn(by);
  };
  // Passive: to scroll and to zoom remain the browser's.
  node.addEventListener("touchstart", began, { passive: true });
  node.addEventListener("touchend", ended, { passive: true });
  node.addEventListener("touchcancel", () => (start = null), { passive: true });
}

// 1, -1, or 0 where it is none. Both in px.
export function swiped(across, down) {
  if (Math.abs(across) < FAR || Math.abs(across) < LEVEL * Math.abs(down)) return 0;
  return across < 0 ? 1 : -1;
}

// A page that is enlarged is moved about by a finger.
function isZoomed() {
  return window.visualViewport?.scale > 1.05;
}
