// The button "Switch off the two heads that carry ...": its words, of what the engine found.

import { filled } from "./models.js";

// change: { heads, difference: { kind, gone, came }, text, isKnown }. offers: templates of
// viz/causes/change.py, by kind and number of heads. textOf(edit): how an edit is said.
export function offerOf({ heads, difference, text, isKnown }, { parts, title }, textOf) {
  const { kind, gone, came } = difference;
  const lost = gone.includes(" ") ? "words" : "word";
  const name = isKnown ? "known" : kind === "number" ? "number" : lost;
  const said = parts[`${name} ${heads.length}`];
  if (!said) return null;
  return {
    of: JSON.stringify([text, heads]),
    parts: said.map((part) => filled(part, { gone, came })),
    title: filled(title, { heads: heads.map((each) => textOf(each, null)).join(", "), text }),
    edits: heads,
  };
}
