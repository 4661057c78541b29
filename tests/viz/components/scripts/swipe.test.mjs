import assert from "node:assert";
import { test } from "node:test";

import { wayTo } from "../../../../viz/components/kit/sight.js";
import { swiped } from "../../../../viz/components/kit/swipe.js";

test("a finger to the left turns on, to the right back", () => {
  assert.strictEqual(swiped(-120, 10), 1);
  assert.strictEqual(swiped(120, -30), -1);
});

test("a tap, a scroll and a slanting line turn nothing", () => {
  for (const [across, down] of [[3, 2], [-49, 0], [10, 300], [-100, 80]]) {
    assert.strictEqual(swiped(across, down), 0);
  }
});

test("a picture is scrolled to as far as needed, and no further than to its top", () => {
  const window = [60, 800];
  assert.strictEqual(wayTo([200, 700], window), 0);
  assert.strictEqual(wayTo([300, 900], window), 100);
  assert.strictEqual(wayTo([100, 1900], window), 40);
  assert.strictEqual(wayTo([-500, 0], window), -560);
});
