// A component that is a picture: it is mounted, can be copied and saved as a figure, and explains
// its words.

import { createCards } from "./cards.js";
import { createTools } from "./figure/tools.js";
import { mounted } from "./mounted.js";

// As `mounted` takes them; what a figure asks of a view stands in figure/figure.js, what a card does
// in cards.js.
export function host(name, create, update) {
  return mounted(name, create, update, (root, view) => both(createTools(root, view), createCards(root, view)));
}

function both(...parts) {
  return {
    update: (envelope) => parts.forEach((part) => part.update(envelope)),
    end: () => parts.forEach((part) => part.end()),
  };
}
