// What became of the output is read out where it changes: what brings it is drawn anew each time, and
// only a text that changes in a place that stays is heard.

import { element } from "../kit/page.js";
import { whenDrawn } from "./drawn.js";

const TOLD = "[data-told]";
const HIDDEN = "position: fixed; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)";

export function watchTold() {
  const announcer = element("p");
  announcer.role = "status";
  announcer.style.cssText = HIDDEN;
  document.body.append(announcer);
  let last = "";
  const follow = () => {
    const { told = "", of = "" } = document.querySelector(TOLD)?.dataset ?? {};
    if (`${of} ${told}` === last) return;
    last = `${of} ${told}`;
    announcer.replaceChildren(told); // anew where another change has the same outcome, too
  };
  whenDrawn(follow);
  follow();
}
