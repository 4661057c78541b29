import assert from "node:assert/strict";
import { test } from "node:test";

import {
  effective,
  gridPlaceAfter,
  indexOf,
  rankedColumns,
  ranking,
} from "../../../../viz/components/head_grid/order.js";

const METRICS = [{ name: "entropy" }, { name: "previous" }];

test("a metric that this attention lacks counts as none", () => {
  assert.deepEqual(effective({ show: "copying", sort: "previous", top: 5 }, METRICS), {
    show: "maps",
    sort: "previous",
    by: "previous",
    top: 5,
  });
  assert.deepEqual(effective({ show: "maps", sort: "copying", top: 5 }, METRICS), {
    show: "maps",
    sort: "layer",
    by: null,
    top: 0,
  });
});

test("what is shown ranks where nothing is sorted", () => {
  assert.equal(effective({ show: "entropy", sort: "layer", top: 0 }, METRICS).by, "entropy");
});

test("the largest comes first, undefined values last, ties in their order", () => {
  assert.deepEqual(ranking([1, NaN, 3, 1, -2]), [2, 0, 3, 4, 1]);
});

test("few ranked heads stand five in a row, many as the heads of a layer, never too narrow", () => {
  assert.equal(rankedColumns(20, 12, 900, 6), 5);
  assert.equal(rankedColumns(24, 8, 900, 6), 8);
  assert.equal(rankedColumns(144, 12, 270, 6), 6);
  assert.equal(rankedColumns(3, 12, 900, 6), 3);
  assert.equal(rankedColumns(24, 1, 900, 6), 5);
});

test("a layer that is one map has one place for all its heads", () => {
  assert.equal(indexOf({ thumbnails: { shape: [3, 8, 9, 9] } }, [1, 2]), 10);
  assert.equal(indexOf({ thumbnails: { shape: [3, 1, 9, 9] } }, [1, 2]), 1);
});

test("keys lead along rows of eleven places, five in a row", () => {
  const go = (key, place, wraps = false) => gridPlaceAfter(key, place, 11, 5, wraps);
  assert.equal(go("ArrowRight", 4), 4);
  assert.equal(go("ArrowRight", 4, true), 5);
  assert.equal(go("ArrowLeft", 5), 5);
  assert.equal(go("ArrowDown", 5), 10);
  assert.equal(go("ArrowDown", 7), undefined);
  assert.equal(go("ArrowUp", 3), undefined);
  assert.equal(go("Home", 8), 5);
  assert.equal(go("End", 10), 10);
  assert.equal(go("x", 3), undefined);
});
