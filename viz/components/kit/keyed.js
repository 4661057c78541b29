// Whether keys belong to what the keyboard has led to.

// It does something with them itself; the page and wrappers that a script gives the focus do not.
const KEYED = [
  "a[href], button, input, select, textarea, summary, iframe, [contenteditable]",
  '[tabindex]:not([tabindex="-1"])',
  // Of those that one comes to by arrow keys, all but one are out of Tab's way.
  "[role=option], [role^=menuitem], [role=radio], [role=tab], [role=gridcell], [role=treeitem]",
].join();

// What a text is typed into.
const TEXT = "input:not([type=range], [type=radio], [type=checkbox], [type=button]), textarea, select, [contenteditable]";

// What opens by a click, and takes keys then.
const OPENED = "input, select, textarea, [contenteditable], [role^=menuitem]";
// What a click draws anew gets the focus back by a script, as if a key had led there.
const last = { isClick: false };

globalThis.window?.addEventListener("pointerdown", () => Object.assign(last, { isClick: true }), true);
globalThis.window?.addEventListener("keydown", ({ key }) => key === "Tab" && Object.assign(last, { isClick: false }), true);

// at: what has the focus, however deep. Whoever only clicked it goes on by the keys of the page.
export function isInUse(at = document.activeElement) {
  let node = at;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  if (!node?.matches(KEYED) || !node.matches(":focus-visible")) return false;
  return !last.isClick || node.matches(OPENED);
}

// Whether a text is typed where this event begins.
export function isTyped(event) {
  const [node] = event.composedPath();
  return Boolean(node?.matches?.(TEXT)); // it may be of a recording, another page
}
