// While a sentence is being typed, pictures show what it would give: a draft. What the server says
// of the sentence that was entered takes its place.

export const DRAFT_EVENT = "headscope:draft";
export const DROPPED_EVENT = "headscope:draft-dropped"; // as when the theme changes: nothing was entered

// show(bytes) draws them. Returns give(bytes), to be told what the server says, and end().
export function withDrafts(name, show) {
  let given = null;
  let draft = null;
  const heard = ({ detail: parts }) => {
    if (!given || (parts ? !parts[name] : !draft)) return;
    draft = parts?.[name] ?? null;
    show(draft ?? given);
  };
  window.addEventListener(DRAFT_EVENT, heard);
  return {
    give(bytes) {
      if (draft) window.dispatchEvent(new Event(DROPPED_EVENT));
      draft = given ? null : (window[DRAFT_EVENT]?.[name] ?? null); // of a letter typed before
      given = bytes;
      show(draft ?? given);
    },
    end: () => window.removeEventListener(DRAFT_EVENT, heard),
  };
}
