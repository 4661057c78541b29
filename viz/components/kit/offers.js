// What a page may offer once it is known: it is sought while nobody waits for it.

export const SEEK_EVENT = "headscope:seek-offer";
const SOUGHT = "headscopeSought"; // of the window: the nonce of what an offer is sought for, null: of nothing
const OFFER_EVENT = "headscope:offer";

// of: null where nothing is to be offered any more.
export function seekOffer(of) {
  window[SOUGHT] = of;
  if (of) window.dispatchEvent(new Event(SEEK_EVENT));
}

export const sought = () => window[SOUGHT] ?? null;

export function announceOffer(offer) {
  window.dispatchEvent(new CustomEvent(OFFER_EVENT, { detail: offer }));
}

// Returns what ends the listening.
export function onOffer(listener) {
  const heard = ({ detail }) => listener(detail);
  window.addEventListener(OFFER_EVENT, heard);
  return () => window.removeEventListener(OFFER_EVENT, heard);
}
