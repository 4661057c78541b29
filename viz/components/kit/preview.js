// While a sentence is being typed, pictures show what it would give: a preview. What the server
// says of the sentence that was entered takes its place.

import { openEnvelope } from "./unpack.js";

export const PREVIEW_EVENT = "headscope:preview";
export const TYPED = "headscope:typed"; // the text that was entered by itself last: it is no entry of Back
export const TRY_EVENT = "headscope:try"; // a click that changes the model: what it gives is shown first
export const AIM_EVENT = "headscope:aim"; // somebody points at such a click: it may be asked for already
export const DROPPED_EVENT = "headscope:preview-dropped"; // as when the theme changes: nothing was entered

// Shows what these changes would give, where somebody answers; then they are to be told.
// isDue(): whether the page of these is still to come; else nothing would take the preview's place.
export function tryFirst(changes, tellThem, isDue) {
  const event = new CustomEvent(TRY_EVENT, { cancelable: true, detail: { changes, tellThem, isDue } });
  if (window.dispatchEvent(event)) tellThem();
}

// The same while somebody only points there; null: at nothing.
export function aimAt(changes) {
  window.dispatchEvent(new CustomEvent(AIM_EVENT, { detail: changes }));
}

// show(bytes) draws them. Returns give(bytes), to be told what the server says, and end(). The
// preview of a component is the one of the key that it was mounted with.
export function withPreview(show) {
  let given = null;
  let said = {}; // the header of what was given
  let preview = null;
  const heard = ({ detail: parts }) => {
    if (!given || (parts ? !parts[said.key] : !preview)) return;
    preview = parts?.[said.key] ?? null;
    show(preview ?? given);
  };
  window.addEventListener(PREVIEW_EVENT, heard);
  return {
    give(bytes) {
      const header = openEnvelope(bytes);
      if (isOlder(header, said)) return;
      said = header;
      if (preview) window.dispatchEvent(new Event(DROPPED_EVENT));
      preview = given ? null : (window[PREVIEW_EVENT]?.[said.key] ?? null); // of a letter typed before
      given = bytes;
      show(preview ?? given);
    },
    end: () => window.removeEventListener(PREVIEW_EVENT, heard),
  };
}

// While a component is being loaded Streamlit may hand it its first data after its second.
function isOlder({ session, version }, said) {
  return session === said.session && version < said.version;
}
