// What somebody has opened in a table stays open where the table is drawn anew, as while it grows row
// by row; and the focus stays with it. The rows may come in another order then.

import { main } from "./focus.js";

const DETAILS = ".tables details";

export function watchOpened() {
  const opened = new Set();
  let focused = null; // the part whose summary has the focus
  const look = (details) => {
    if (details.open) opened.add(nameOf(details));
    else opened.delete(nameOf(details));
  };
  const follow = () => {
    if (!opened.size && !focused) return;
    const isLost = focused && !focused.node.isConnected && document.activeElement === document.body;
    for (const details of document.querySelectorAll(DETAILS)) {
      const name = nameOf(details);
      if (opened.has(name)) details.open = true;
      if (isLost && name === focused.name) details.firstChild.focus({ preventScroll: true });
    }
  };
  // These do not bubble, but are caught on their way down.
  window.addEventListener("toggle", ({ target }) => target.matches?.(DETAILS) && look(target), true);
  window.addEventListener("focusin", ({ target }) => {
    const node = target.closest?.(DETAILS);
    focused = node && { node, name: nameOf(node) };
  });
  new MutationObserver(follow).observe(main(), { childList: true, subtree: true });
}

// Its row and its text: those of another sentence are others.
function nameOf(details) {
  return `${details.closest("tr")?.cells[0].textContent} ${details.textContent}`;
}
