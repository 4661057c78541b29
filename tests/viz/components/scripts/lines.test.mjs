import assert from "node:assert/strict";
import { test } from "node:test";

import { linesAt, linesOf, openToken, partnersOf } from "../../../../viz/components/head_view/lines.js";

// One head of 2 rows and 3 columns, all values sent; one cell is masked.
const DENSE = {
  columns: null,
  values: Float32Array.from([0.5, 0.25, 0.25, 1, 0, NaN]),
  rest: null,
  nRows: 2,
  width: 3,
  nColumns: 3,
};
// The two largest sizes of each of 2 rows, of 9 columns; the sum of what was left out.
const RANKED = {
  columns: Uint16Array.from([7, 2, 2, 0]),
  values: Float32Array.from([-4, 2, 3, 1]),
  rest: Float32Array.from([1, 0.5]),
  nRows: 2,
  width: 2,
  nColumns: 9,
};

test("a token's id says its side and its place", () => {
  assert.deepEqual(openToken("q12"), { isRow: true, place: 12 });
  assert.deepEqual(openToken("k3"), { isRow: false, place: 3 });
});

test("partners come by size; masked cells and zeros are none", () => {
  assert.deepEqual(partnersOf(DENSE, 0, "q1"), [{ place: 0, value: 1 }]);
  assert.deepEqual(partnersOf(DENSE, 0, "k0"), [
    { place: 1, value: 1 },
    { place: 0, value: 0.5 },
  ]);
  assert.deepEqual(partnersOf(RANKED, 0, "q0"), [
    { place: 7, value: -4 },
    { place: 2, value: 2 },
  ]);
});

test("a column's cells are found where only the strongest of each row were sent", () => {
  assert.deepEqual(partnersOf(RANKED, 0, "k2"), [
    { place: 1, value: 3 },
    { place: 0, value: 2 },
  ]);
});

test("the strongest lines of each row, and which part of all sizes they are", () => {
  const { rows, columns, shown, total } = linesOf(DENSE, 0, 1);
  assert.deepEqual([rows, columns, shown, total], [[0, 1], [0, 0], 1.5, 2]);
  assert.equal(linesOf(RANKED, 0, 2).total, 11.5);
  assert.equal(linesOf(RANKED, 0, 2).shown, 10);
});

test("lines that tie for the last place are not drawn beyond their number", () => {
  assert.deepEqual(linesOf(DENSE, 0, 2).columns, [0, 1, 0]);
});

test("a line between two chosen tokens is drawn once", () => {
  const { rows, columns } = linesAt(DENSE, 0, ["q0", "k1"], 10);
  assert.deepEqual(rows.map((row, i) => [row, columns[i]]), [
    [0, 0],
    [0, 1],
    [0, 2],
  ]);
});
