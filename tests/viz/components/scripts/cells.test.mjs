// Cells that are drawn by a drag.

import assert from "node:assert/strict";
import { test } from "node:test";

import { between, counted } from "../../../../viz/components/cell_drawing/cells.js";

test("a fast drag leaves no cell out", () => {
  assert.deepEqual(between([1, 1], [4, 1]), [[2, 1], [3, 1], [4, 1]]);
  assert.deepEqual(between([3, 3], [1, 1]), [[2, 2], [1, 1]]);
  assert.deepEqual(between([0, 0], [2, 4]).at(-1), [2, 4]);
  assert.deepEqual(between([5, 5], [5, 5]), []);
});

test("cells are counted, and the last one that a question takes says so", () => {
  assert.equal(counted(1, 4), "1 cell");
  assert.equal(counted(3, 4), "3 cells");
  assert.ok(counted(4, 4).length > "4 cells".length);
});
