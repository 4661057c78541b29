// What change_offer is given, as viz/causes/change.py packs it.

import { filled } from "./numbers.js";
import { pack } from "./pack.js";

// search: of viz/live/engine/change.js; of: names the answer that is changed.
export function changeOffer(site, { change }, of) {
  return pack({ offer: change && buttonOf(site, change, of) });
}

function buttonOf({ words, change_offer: { parts, says, title, heads } }, change, of) {
  const { difference: { kind, gone, came }, isKnown, text } = change;
  const n = change.heads.length;
  const places = {
    heads: filled(says.heads[Number(n > 1)], { n }),
    carry: says.carry[Number(n > 1)],
    are: says.are[Number(gone.includes(" "))],
    gone,
    came,
  };
  const name = isKnown ? "known" : kind === "number" ? "number" : "lost";
  const named = change.heads.map((head) => heads[head]).join(", ");
  return {
    of,
    parts: parts[name].map((part) => words.visible(filled(part, places))),
    title: words.visible(filled(title, { heads: named, text })),
    edits: change.heads,
  };
}
