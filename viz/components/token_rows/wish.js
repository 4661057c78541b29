// The cards of all written words, which bring the marks of the tokens along: asked for by whoever shows
// them, and answered once they are known. What is pointed at or clicked meanwhile takes nothing from it.

import { CARDS_EVENT } from "../kit/word_cards.js";
import { unpack } from "../kit/unpack.js";
import { AGAIN, ANSWERED, SOON, isRunning, isTyping, partsOf, post } from "./asking.js";

const WHY = { why: true }; // as viz/run/previews.py
const UNASKED = { why: "unasked" };
const SELDOM = 500; // ms at most between two requests

// Where nobody awaits them it is a guess: it gives way to what others wait for, and may come to nothing.
export async function wished(typing) {
  if (typing.wish) return;
  const wish = (typing.wish = { isPosted: false });
  let answer = { status: AGAIN };
  let isGuess = false;
  let pause = 0; // longer each time that the server has no room: many may wait for it
  while (answer.status === AGAIN && (typing.wish === wish || !typing.wish)) {
    await new Promise((wake) => setTimeout(wake, pause));
    pause = Math.max(pause, SOON);
    if (isRunning() || typing.isTrying) continue; // another page may be on its way, and has an address
    if (!typing.address || isTyping(typing)) break; // the page of what is entered then asks for its own
    wish.isPosted = true;
    isGuess = !typing.isAwaited;
    answer = await post(typing.address + (isGuess ? "?ahead" : ""), typing.isUnasked ? UNASKED : WHY);
    pause = Math.min(1.5 * pause, SELDOM);
  }
  if (typing.wish === wish) typing.wish = null;
  if (answer.status === ANSWERED) announce(answer.bytes);
  else if (isGuess && typing.isAwaited) return wished(typing); // since then
  if (answer.status !== AGAIN) Object.assign(typing, { isAwaited: false, isUnasked: false });
}

// Not a preview: they belong to the text that was entered, and wait for a pin.
function announce(bytes) {
  const [cards] = Object.values(partsOf(bytes));
  window.dispatchEvent(new CustomEvent(CARDS_EVENT, { detail: unpack(cards).header }));
}
