// One bar below the page of whoever follows a talk: back to it, or why there is none any more.

import { element } from "../kit/page.js";

export function createAway(back) {
  const bar = element("div", "away");
  bar.setAttribute("role", "status");
  bar.hidden = true;
  const button = element("button", "back", "Back to the talk");
  button.type = "button";
  button.onclick = back;
  return { bar, button, said: element("p") };
}

// isAway: something was changed here; why: the talk is over, or "".
export function showAway({ bar, button, said }, isAway, why) {
  said.textContent = why;
  bar.hidden = !isAway && !why;
  const child = why ? said : button;
  if (bar.firstChild !== child) bar.replaceChildren(child);
}
