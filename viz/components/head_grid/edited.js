// Heads that are changed in the model: off, or in another way.

import { spoken } from "./words.js";

// heads: [[kind, layer, head]], with this one if it was not among them, else without it.
export function switched(heads, head) {
  const others = heads.filter((each) => each.join() !== head.join());
  return others.length < heads.length ? others : [...heads, head];
}

// edits: as the address spells them. The same with these heads off, and no others: as the server
// will have them.
export function editsWith(edits, heads) {
  const wanted = heads.map(([kind, layer, head]) => `head-off:${kind}.${layer}.${head}`);
  const kept = edits.filter((edit) => wanted.includes(edit) || !edit.startsWith("head-off:"));
  return [...kept, ...wanted.filter((edit) => !kept.includes(edit))];
}

// Each cell says what is done to its head, to the eye and to those who do not see it.
export function markEdited({ root, sections, off, edited, tool }) {
  const [isOff, isEdited] = [off, edited].map((heads) => new Set(heads.map((head) => head.join())));
  root.dataset.tool = tool;
  for (const section of sections) {
    for (const cell of section.cells) {
      const name = [section.header.kind, cell.layer, cell.head].join();
      const done = isOff.has(name) ? "off" : isEdited.has(name) ? "edited" : undefined;
      if (cell.dataset.edited === done) continue;
      if (done) cell.dataset.edited = done;
      else delete cell.dataset.edited;
      cell.setAttribute("aria-label", spoken(cell));
    }
  }
}
