// Whatever follows what the page draws: one observer looks at it, however many do.

import { main } from "./focus.js";

const follows = [];

export function whenDrawn(follow) {
  if (!follows.length) observer().observe(main(), { childList: true, subtree: true });
  follows.push(follow);
}

const observer = () => new MutationObserver(() => follows.forEach((follow) => follow()));
