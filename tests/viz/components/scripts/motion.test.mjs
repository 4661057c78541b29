// Between two pictures: lines on their way from head to head, and arrows on theirs to cells.

import assert from "node:assert/strict";
import { test } from "node:test";

import { between as moved } from "../../../../viz/components/head_view/moving.js";
import { between as folded } from "../../../../viz/components/kit/fold.js";
import { eased } from "../../../../viz/components/kit/motion.js";

const before = { rows: [0, 0, 1], columns: [3, 5, 2], values: [0.9, 0.1, 1] };
const after = { rows: [0, 0], columns: [5, 1], values: [0.7, 0.3] };

function listed({ rows, columns, values }) {
  return rows
    .map((row, i) => [row, columns[i], values[i]])
    .filter(([, , value]) => value)
    .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

test("a move begins with the old lines and ends with the new ones", () => {
  assert.deepEqual(listed(moved(before, after, 0)), listed(before));
  assert.deepEqual(listed(moved(before, after, 1)), listed(after));
});

test("a line that both have stays, the strongest of the others moves, what is left over fades", () => {
  const half = listed(moved(before, after, 0.5));
  assert.deepEqual(
    half.map(([row, column]) => [row, column]),
    [[0, 2], [0, 5], [1, 2]],
  );
  assert.ok(half.every(([, , value], i) => Math.abs(value - [0.6, 0.4, 0.5][i]) < 1e-12));
});

test("lines come from nothing and go to nothing", () => {
  const none = { rows: [], columns: [], values: [] };
  assert.deepEqual(moved(none, after, 0.5).columns, [5, 1]);
  assert.deepEqual(moved(none, after, 0.5).values, [0.35, 0.15]);
  assert.deepEqual(listed(moved(before, none, 1)), []);
});

test("an arrow becomes the cell of its weight", () => {
  const line = {
    row: 1, column: 2, size: 0.25, from: [10, 30], to: [210, 90], thick: 1, shade: 0.5, ink: [0, 0, 9],
  };
  const cells = {
    box: (row, column) => ({ x: 100 + 20 * column, y: 10 * row, width: 20, height: 10 }),
    colour: (size) => [255 * size, 0, 0],
  };
  assert.deepEqual(folded(line, cells, 0), {
    from: [10, 30], to: [210, 90], thick: 1, shade: 0.5, ink: [0, 0, 9],
  });
  assert.deepEqual(folded(line, cells, 1), {
    from: [140, 15], to: [160, 15], thick: 10, shade: 1, ink: [63.75, 0, 0],
  });
});

test("a motion is level at both ends", () => {
  assert.deepEqual([eased(0), eased(0.5), eased(1)], [0, 0.5, 1]);
  assert.ok(eased(0.01) < 0.001 && eased(0.99) > 0.999);
});
