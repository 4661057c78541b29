// A phone answers in its talk's room: what it says is said until the room has counted it.

import { knownTally, sayAnswer } from "../kit/tally.js";
import { sumOf, whole } from "./points.js";

const REST = 400; // ms after the last change, at which it is said
const AGAIN = 1500; // ms after which it is said once more

export function createAnswering() {
  return { timer: 0, wanted: null };
}

// "alone": who stands here answers and reveals; "guest": answers with all others, and waits; "room":
// shows what they say. tally: as kit/tally.js knows it. uncounted: why nothing is counted, or "".
export function modeOf({ of, role, uncounted }, tally) {
  if (!of || tally === null) return "alone";
  if (role === "audience") return !tally || tally.of === of || tally.isThere ? "guest" : "alone";
  return tally?.of === of && tally.asked && !uncounted ? "room" : "alone";
}

// wanted: the points that somebody put here; null where it is known only from the room.
export function answerSoon(view, wait = REST) {
  const { answering, uncounted } = view;
  if (uncounted) return;
  answering.wanted = whole(view.points);
  clearTimeout(answering.timer);
  answering.timer = setTimeout(() => {
    const tally = knownTally();
    if (!tally || tally.of !== view.of || tally.revealed || isCounted(answering.wanted, tally.mine)) return;
    if (!tally.isLost) sayAnswer({ of: view.of, points: answering.wanted });
    answerSoon(view, AGAIN);
  }, wait);
}

// What the room has counted stands here, too, after this page was loaded anew, and once the truth is
// shown.
export function takeCounted(view, tally) {
  if (tally?.mine && (tally.revealed || !view.answering.wanted)) view.points = tally.mine;
}

export function howCounted({ answering, uncounted }, tally) {
  if (tally?.revealed) return "The answer comes.";
  if (uncounted) return uncounted;
  if (tally?.isLost) return "Not connected: your answer goes out as soon as you are.";
  if (!isCounted(answering.wanted ?? tally?.mine ?? [], tally?.mine)) return "On its way...";
  return "Counted. You can change it until the answer is shown.";
}

// Nothing at all is known as no answer.
export function isCounted(wanted, mine) {
  return mine ? wanted.join() === mine.join() : !sumOf(wanted);
}
