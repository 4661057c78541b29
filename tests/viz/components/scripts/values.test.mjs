import assert from "node:assert/strict";
import { test } from "node:test";

import {
  fitWindow,
  inMap,
  isExact,
  isSmall,
  pinsOf,
  regionAround,
  strongestAlong,
  valueAt,
  wholeWindow,
} from "../../../../viz/components/head_map/values.js";

// 5 x 7 cells in blocks of 2 x 3, and the exact values of rows 2 to 3, columns 3 to 5.
function pooled() {
  const [values, part] = [Float32Array.from([1, 2, 3, 4, NaN, 6, 7, 8, 9]), new Float32Array(6)];
  part.set([10, 11, 12, 13, 14, 15]);
  values.shape = [3, 3];
  part.shape = [2, 3];
  const header = { block: [2, 3], region: [2, 4, 3, 6], lens: { scale: "share" } };
  return { header, values, part, places: Uint16Array.from([4, 0, 0, 5, 0, 0, 0, 0, 0]), nRows: 5, nColumns: 7 };
}

test("a block shows the value of one of its cells, and says which", () => {
  const found = valueAt(pooled(), [0, 5, 0, 7], 0, 2);
  assert.deepEqual(found, { value: 1, row: 1, column: 1, rows: [0, 1], columns: [0, 2] });
});

test("the last block of a side is as large as what is left", () => {
  const { value, rows, columns } = valueAt(pooled(), [0, 5, 0, 7], 4, 6);
  assert.deepEqual([value, rows, columns], [9, [4, 4], [6, 6]]);
});

test("within the region values are exact, and each is its own cell's", () => {
  const window = [2, 4, 3, 6];
  assert.equal(isExact(pooled(), window), true);
  assert.equal(isExact(pooled(), [1, 4, 3, 6]), false);
  const found = valueAt(pooled(), window, 3, 4);
  assert.deepEqual(found, { value: 14, row: 3, column: 4, rows: [3, 3], columns: [4, 4] });
});

test("a pin is a row or a column, as far as the map has it", () => {
  const map = { nRows: 5, nColumns: 7 };
  const pins = pinsOf({ pins: ["q4", "q5", "k6", "k7"], map });
  assert.deepEqual(pins, [{ row: 4, column: -1 }, { row: -1, column: 6 }]);
});

test("a window begins and ends with a block, and stays in the map", () => {
  const map = { header: { block: [2, 3] }, nRows: 50, nColumns: 70 };
  assert.deepEqual(fitWindow(map, [-3, 6, 10, 20]), [0, 10, 9, 21]);
  assert.deepEqual(fitWindow(map, [49, 50, 68, 90]), [46, 50, 48, 70]);
  assert.deepEqual(fitWindow(map, wholeWindow(map)), [0, 50, 0, 70]);
});

test("a region is the largest around a window that a server sends", () => {
  const map = { nRows: 1000, nColumns: 100 };
  assert.deepEqual(regionAround(map, [500, 510, 0, 50]), [377, 633, 0, 100]);
  assert.deepEqual(regionAround(map, [990, 1000, 0, 50]), [744, 1000, 0, 100]);
  assert.equal(isSmall([377, 633, 0, 100]), true);
  assert.equal(isSmall([377, 634, 0, 100]), false);
});

test("a cell outside the map becomes its nearest one", () => {
  assert.deepEqual(inMap({ nRows: 5, nColumns: 7 }, -1, 9), [0, 6]);
});

test("the strongest cell of a column is in a row that had a choice, where there is one", () => {
  const values = Float32Array.of(1, NaN, NaN, 0.3, 0.7, NaN, 0.2, 0.1, 0.7);
  const map = { header: { block: [1, 1] }, values, nRows: 3, nColumns: 3 };
  const found = (...place) => {
    const { row, column, value } = strongestAlong(map, ...place);
    return [row, column, Math.fround(value)];
  };
  assert.deepEqual(found(-1, 0), [1, 0, Math.fround(0.3)]);
  assert.deepEqual(found(-1, 2), [2, 2, Math.fround(0.7)]);
  assert.deepEqual(found(0, -1), [0, 0, 1]); // a row that is asked for has its own
  const alone = { ...map, values: values.subarray(0, 3), nRows: 1 };
  assert.equal(strongestAlong(alone, -1, 0).value, 1);
  assert.equal(strongestAlong(alone, -1, 1), null);
});
