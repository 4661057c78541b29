// What became of the output is read out where it changes: what brings it is drawn anew each time, and
// only a text that changes in a place that stays is heard. Where its lines are longer than the window, the
// first word that changed is in sight; and what else stands at the foot of the window stands above it.

import { element } from "../kit/page.js";
import { whenDrawn } from "./drawn.js";

const TOLD = "[data-told]";
const LINES = ".text-lines";
const CHANGED = "s, b";
const STRIP = '[data-testid="stLayoutWrapper"]:has(> .st-key-decided)';
const HIDDEN = "position: fixed; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)";

export function watchTold() {
  const announcer = element("p");
  announcer.role = "status";
  announcer.style.cssText = HIDDEN;
  document.body.append(announcer);
  let [last, strip] = ["", null];
  const resized = new ResizeObserver(([{ target }]) => {
    document.documentElement.style.setProperty("--strip", `${target.offsetHeight}px`);
  });
  const follow = () => {
    const drawn = document.querySelector(STRIP);
    if (drawn !== strip) {
      resized.disconnect();
      if (drawn) resized.observe(drawn);
      else document.documentElement.style.removeProperty("--strip");
      strip = drawn;
    }
    const node = document.querySelector(TOLD);
    const { told = "", of = "" } = node?.dataset ?? {};
    if (`${of} ${told}` === last) return;
    last = `${of} ${told}`;
    announcer.replaceChildren(told); // anew where another change has the same outcome, too
    if (node) showChanged(node.querySelector(LINES));
  };
  whenDrawn(follow);
  follow();
}

// What is in sight begins with a word, and no further on than it must.
function showChanged(lines) {
  const changed = lines?.querySelector(CHANGED);
  if (!changed) return;
  lines.scrollLeft = 0;
  const line = changed.closest("dd, p");
  const place = (node) => node.getBoundingClientRect();
  const [word, room] = [changed, lines].map(place);
  if (word.left >= room.left && word.right <= room.right) return;
  const isLeftward = getComputedStyle(line).direction === "rtl";
  const reaches = (from) => (isLeftward ? from.right - word.left : word.right - from.left) <= room.width;
  const first = [...line.children].map(place).find(reaches) ?? word;
  lines.scrollLeft += isLeftward ? first.right - room.right : first.left - room.left;
}
