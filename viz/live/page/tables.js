// Tables of Python's painter, or like them, as elements. Their links are choices: "?kind=cross&layer=2".

import { grow } from "../../components/kit/elements.js";
import { addressOf } from "./address.js";

// style: an element, too. page: as in acts.js, with spelled(changes).
export function drawTable(host, style, elements, page) {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const { scrollTop: top = 0, scrollLeft: left = 0 } = root.querySelector("figure") ?? {};
  root.replaceChildren(grow(style), ...elements.map(grow));
  root.querySelector("figure").scrollTo({ top, left }); // one that grows stays where it was scrolled
  for (const link of root.querySelectorAll("a[data-state]")) follow(link, page);
}

// A plain click chooses without loading the page anew; a new tab has the whole address.
function follow(link, page) {
  const changes = Object.fromEntries(new URLSearchParams(link.getAttribute("href")));
  link.href = addressOf(page.spelled(changes)) || "?";
  link.onclick = (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    page.choose(changes, true);
  };
}
