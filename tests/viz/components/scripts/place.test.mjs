import assert from "node:assert/strict";
import { test } from "node:test";

import { takePlace } from "../../../../viz/components/kit/place.js";

globalThis.window = globalThis;

test("a picture begins with the one that stands at its place, whether that is gone already or not", (t) => {
  let now = 0;
  t.mock.method(performance, "now", () => now);
  const arrows = takePlace("a", () => "arrows");
  assert.equal(arrows.before, null);
  const map = takePlace("a", () => "map");
  assert.equal(map.before, "arrows"); // both are on the page
  arrows.leave();
  map.leave();
  now = 2000;
  const again = takePlace("a", () => "arrows");
  assert.equal(again.before, "map");
  again.leave();
  now = 9000;
  assert.equal(takePlace("a", () => "map").before, null);
  assert.equal(takePlace("b", () => "map").before, null);
});
