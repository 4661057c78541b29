// What a component is given, whatever the order in which it comes.

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.window = new EventTarget();
const { withPreview } = await import("../../../../viz/components/kit/preview.js");
const { packed } = await import("./packed.mjs");

function given(...headers) {
  const shown = [];
  const all = headers.map(packed);
  const preview = withPreview((bytes) => shown.push(all.indexOf(bytes)));
  for (const bytes of all) preview.give(bytes);
  preview.end();
  return shown;
}

test("older data of the same session are dropped", () => {
  const [a, b] = [{ session: "a", version: 1 }, { session: "a", version: 2 }];
  assert.deepEqual(given(a, b), [0, 1]);
  assert.deepEqual(given(b, a), [0]);
  assert.deepEqual(given(b, a, b), [0, 2]);
});

test("a new session begins anew, and a page of its own has no versions", () => {
  assert.deepEqual(given({ session: "a", version: 5 }, { session: "b", version: 1 }), [0, 1]);
  assert.deepEqual(given({}, {}), [0, 1]);
});
