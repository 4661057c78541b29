// Between the room of a window and the question on its page: how people answer comes in, and an
// answer goes out. Each component has modules of its own, so both go by the window.

const TALLY = "headscope:tally";
const ANSWER = "headscope:answer";
const KNOWN = "headscopeTally";

// tally: as viz/talks/rooms.py tells it, and { isThere, isLost }: whether this window is where its talk
// is, and has no connection; null where it is in no room.
export function giveTally(tally) {
  const said = JSON.stringify(tally);
  if (window[KNOWN]?.said === said) return;
  window[KNOWN] = { said, tally };
  window.dispatchEvent(new Event(TALLY));
}

// undefined: nothing was told yet.
export function knownTally() {
  return window[KNOWN]?.tally;
}

// changed() is called when another one is known. Returns what ends that.
export function onTally(changed) {
  return heard(TALLY, changed);
}

// answer: { of, points }.
export function sayAnswer(answer) {
  window.dispatchEvent(new CustomEvent(ANSWER, { detail: answer }));
}

export function onAnswer(say) {
  return heard(ANSWER, ({ detail }) => say(detail));
}

function heard(name, listener) {
  window.addEventListener(name, listener);
  return () => window.removeEventListener(name, listener);
}
