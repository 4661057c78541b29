// The cards of all written words are asked for before one of them is pinned, so that a pin opens its
// card at once.

export const WISH_EVENT = "headscope:wish"; // somebody points at a written word: the cards of all may be asked for
const PIN_EVENT = "headscope:pin"; // a token is being pinned: shown at once by who knows what it opens
export const CARDS_EVENT = "headscope:cards"; // the cards of all written words, as they were asked for

export function wishForCards() {
  window.dispatchEvent(new Event(WISH_EVENT));
}

// pin: { of, side, position, asKey }; of: the nonce of the tokens. To be said before the server is told.
export function announcePin(pin) {
  window.dispatchEvent(new CustomEvent(PIN_EVENT, { detail: pin }));
}

// Both return what ends the listening.
export const onPin = (listener) => hearing(PIN_EVENT, listener);
export const onCards = (listener) => hearing(CARDS_EVENT, listener);

function hearing(name, listener) {
  const heard = ({ detail }) => listener(detail);
  window.addEventListener(name, heard);
  return () => window.removeEventListener(name, heard);
}
