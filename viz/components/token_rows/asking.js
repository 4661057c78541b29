// What differs from the request that was entered is posted to the server, and what it answers is shown.

import { PREVIEW_EVENT } from "../kit/preview.js";
import { unpack } from "../kit/unpack.js";

export const SOON = 100; // ms after which a server that draws the page is asked once more
export const ANSWERED = 200;
export const AGAIN = 202; // as viz/state/preview_route.py answers; else what was entered stays

export const isRunning = () => !document.querySelector('[data-test-script-state="notRunning"]');

export const isTyping = ({ wanted, isEntered }) => wanted !== null && !isEntered;

// parts: the bytes that each picture is to show, by key; null: what the server said last.
// The last comes a frame later: drawn at once, all of them would miss the first.
export function announcePreview(typing, parts) {
  const tell = (detail) => window.dispatchEvent(new CustomEvent(PREVIEW_EVENT, { detail }));
  typing.latest = parts;
  window[PREVIEW_EVENT] = parts; // for a picture that comes later
  if (!parts) {
    tell(null);
    return;
  }
  const keys = Object.keys(parts);
  const last = keys.pop();
  tell(Object.fromEntries(keys.map((key) => [key, parts[key]])));
  const later = () => typing.latest === parts && tell({ [last]: parts[last] });
  requestAnimationFrame(() => setTimeout(later));
}

export async function post(address, changes) {
  try {
    const answer = await fetch(address, { method: "POST", body: JSON.stringify(changes) });
    return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) };
  } catch {
    return { status: 0 }; // the server is gone, as Streamlit says
  }
}

export function partsOf(bytes) {
  const { header, arrays } = unpack(bytes);
  return Object.fromEntries(header.keys.map((key, i) => [key, arrays[i]]));
}
