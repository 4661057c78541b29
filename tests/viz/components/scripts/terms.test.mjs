import assert from "node:assert/strict";
import { test } from "node:test";

import { marker } from "../../../../viz/components/kit/terms.js";

// As much of a page as marking needs.
globalThis.document = {
  createElement: () => ({ dataset: {}, setAttribute() {}, get shown() { return `[${this.textContent}]`; } }),
};
const CARDS = [
  ["head", "head|heads"],
  ["key", "key|keys|looks at"],
  ["rollout", "Attention rollout"],
].map(([word, spellings]) => ({ dataset: { word, spellings } }));
const AT = { getRootNode: () => ({ querySelector: () => ({ content: { children: CARDS } }) }) };
const shown = (nodes) => nodes.map((node) => node.shown ?? node).join("");

test("a word is underlined where it comes first, and never again", () => {
  const mark = marker(AT);
  assert.equal(shown(mark("While writing, head 3 looks at a head ")), "While writing, [head] 3 [looks at] a head ");
  assert.equal(shown(mark("of heads.")), "of heads.");
});

test("the title of a word is underlined rather than another spelling", () => {
  assert.equal(shown(marker(AT)("looks at (key)")), "looks at ([key])");
});

test("whole words only, whatever their case", () => {
  assert.equal(shown(marker(AT)("ahead, the attention rollout of keyß")), "ahead, the [attention rollout] of keyß");
});

test("only some words, or all but some", () => {
  assert.equal(shown(marker(AT, { only: ["key"] })("heads and keys")), "heads and [keys]");
  assert.equal(shown(marker(AT, { without: ["key"] })("heads and keys")), "[heads] and keys");
});

test("Tab stops at the first one", () => {
  const stops = marker(AT, { stops: true })("heads and keys").filter((node) => node.shown);
  assert.deepEqual(stops.map((node) => node.tabIndex), [0, -1]);
});

test("without cards a text stays as it is", () => {
  const bare = { getRootNode: () => ({ querySelector: () => null }) };
  assert.deepEqual(marker(bare)("head 3"), ["head 3"]);
});
