import assert from "node:assert/strict";
import { test } from "node:test";

import { columnEdges } from "../../../../viz/components/decode_player/overview.js";

test("columns meet in the middle between two boxes, from the first to the last", () => {
  const boxes = [[10, 4, 40], [52, 4, 20], [74, 4, 30]];
  assert.deepEqual(columnEdges(boxes), [0, 41, 63, 94]);
  assert.deepEqual(columnEdges([[7, 0, 25]]), [0, 25]);
});

test("boxes in two lines, or without a width, have no columns", () => {
  assert.equal(columnEdges([[10, 4, 40], [10, 30, 40]]), null);
  assert.equal(columnEdges([[0, 0, 0], [0, 0, 0]]), null);
  assert.equal(columnEdges([[60, 4, 40], [10, 4, 40]]), null); // a sentence that runs to the left
});
