import assert from "node:assert/strict";
import { test } from "node:test";

import { nearest } from "../../../../viz/components/head_view/cutting.js";
import { switched } from "../../../../viz/components/head_grid/edited.js";

test("a head that is clicked is off, and on again", () => {
  const once = switched([["cross", 0, 1]], ["cross", 2, 3]);
  assert.deepEqual(once, [["cross", 0, 1], ["cross", 2, 3]]);
  assert.deepEqual(switched(once, ["cross", 0, 1]), [["cross", 2, 3]]);
});

// Two rows and two columns, 20 px apart; row 0 looks at column 1, row 1 at column 0 and hardly at 1.
const VIEW = {
  heads: [0],
  pitch: 20,
  box: { scrollTop: 0 },
  paint: { ratio: 1 },
  active: [],
  controls: { lines: { value: "5" } },
  map: {
    header: { per_head: true, bound: 1 },
    nHeads: 1,
    columns: null,
    values: Float32Array.from([0, 1, 0.9, 0.0001]),
    rest: null,
    nRows: 2,
    width: 2,
    nColumns: 2,
  },
};

test("the line that is nearest to the pointer is the one that is meant", () => {
  assert.deepEqual(nearest(VIEW, 1, 10, 100), [0, 0, 1]);
  assert.deepEqual(nearest(VIEW, 1, 30, 100), [0, 1, 0]);
  assert.deepEqual(nearest(VIEW, 99, 30, 100), [0, 0, 1]); // where row 1 hardly looks
  assert.deepEqual(nearest(VIEW, 99, 11, 100), [0, 1, 0]);
  assert.equal(nearest(VIEW, 1, 20, 100), null); // between them
});

test("where lines cross the strongest is meant, whichever is a hair nearer", () => {
  const fainter = { ...VIEW, map: { ...VIEW.map, values: Float32Array.from([0, 0.1, 0.9, 0.0001]), lines: undefined } };
  for (const [x, y] of [[50, 20], [48, 20], [52, 20.5]]) {
    assert.deepEqual(nearest(VIEW, x, y, 100), [0, 0, 1]);
    assert.deepEqual(nearest(fainter, x, y, 100), [0, 1, 0]);
  }
});

test("lines of the pinned token alone are meant where the others step back", () => {
  assert.deepEqual(nearest({ ...VIEW, active: ["q1"] }, 99, 11, 100), [0, 1, 0]);
  assert.equal(nearest({ ...VIEW, active: ["q1"] }, 1, 10, 100), null);
});
