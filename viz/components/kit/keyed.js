// Whether keys belong to what the keyboard has led to.

// It does something with them itself; the page and wrappers that a script gives the focus do not.
const KEYED = [
  "a[href], button, input, select, textarea, summary, iframe, [contenteditable]",
  '[tabindex]:not([tabindex="-1"])',
  // Of those that one comes to by arrow keys, all but one are out of Tab's way.
  "[role=option], [role^=menuitem], [role=radio], [role=tab], [role=gridcell], [role=treeitem]",
].join();

// at: what has the focus, however deep. Whoever only clicked it goes on by the keys of the page.
export function isInUse(at = document.activeElement) {
  let node = at;
  while (node?.shadowRoot?.activeElement) node = node.shadowRoot.activeElement;
  return Boolean(node?.matches(KEYED) && node.matches(":focus-visible"));
}
