// While a sentence is being typed, pictures show what it would give: a preview. What the server
// says of the sentence that was entered takes its place.

import { openEnvelope } from "./unpack.js";

export const PREVIEW_EVENT = "headscope:preview";
export const DROPPED_EVENT = "headscope:preview-dropped"; // as when the theme changes: nothing was entered

// show(bytes) draws them. Returns give(bytes), to be told what the server says, and end(). The
// preview of a component is the one of the key that it was mounted with.
export function withPreview(show) {
  let given = null;
  let key = null;
  let preview = null;
  const heard = ({ detail: parts }) => {
    if (!given || (parts ? !parts[key] : !preview)) return;
    preview = parts?.[key] ?? null;
    show(preview ?? given);
  };
  window.addEventListener(PREVIEW_EVENT, heard);
  return {
    give(bytes) {
      if (preview) window.dispatchEvent(new Event(DROPPED_EVENT));
      ({ key } = openEnvelope(bytes));
      preview = given ? null : (window[PREVIEW_EVENT]?.[key] ?? null); // of a letter typed before
      given = bytes;
      show(preview ?? given);
    },
    end: () => window.removeEventListener(PREVIEW_EVENT, heard),
  };
}
