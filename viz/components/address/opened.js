// What somebody has opened in a table stays open where the table is drawn anew, as while it grows row
// by row; and the focus stays with it. The rows may come in another order then.

import { whenDrawn } from "./drawn.js";

const DETAILS = ".tables details";

export function watchOpened() {
  const opened = new Set();
  const seen = new WeakSet(); // what was drawn anew is looked at once
  let focused = null; // the part whose summary has the focus
  const follow = () => {
    if (!opened.size && !focused) return;
    const isLost = focused && !focused.node.isConnected && document.activeElement === document.body;
    for (const details of document.querySelectorAll(DETAILS)) {
      if (seen.has(details)) continue;
      seen.add(details);
      const name = nameOf(details);
      if (opened.has(name)) details.open = true;
      if (isLost && name === focused.name) details.firstChild.focus({ preventScroll: true });
    }
  };
  // By click or key, before it opens or closes: its own event comes too late where it is drawn anew.
  const note = ({ target }) => {
    const details = target.closest?.(`${DETAILS} > summary`)?.parentElement;
    if (!details) return;
    if (details.open) opened.delete(nameOf(details));
    else opened.add(nameOf(details));
  };
  window.addEventListener("click", note, true);
  window.addEventListener("pointerdown", () => (focused = null), true);
  window.addEventListener("focusin", ({ target }) => {
    const node = target.closest?.(DETAILS);
    focused = node && { node, name: nameOf(node) };
  });
  whenDrawn(follow);
}

// Its table, its row and its text: those of another sentence are others.
function nameOf(details) {
  const figure = details.closest("figure");
  const table = figure?.ariaLabel ?? figure?.querySelector("table").ariaLabel ?? figure?.firstChild.textContent;
  return `${table} ${details.closest("tr")?.cells[0].textContent} ${details.textContent}`;
}
