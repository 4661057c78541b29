import assert from "node:assert/strict";
import { test } from "node:test";

import {
  labelledSteps,
  linePath,
  stepScale,
  valueScale,
} from "../../../../viz/components/snapshot_player/axis.js";

test("steps stand from 0 to 1, and the first one after 0 has about as much room as the next", () => {
  const { at, shift } = stepScale([0, 100, 300, 900, 2900]);
  assert.equal(shift, 100);
  assert.equal(at(0), 0);
  assert.equal(at(2900), 1);
  assert.ok(Math.abs(at(100) - (at(300) - at(100))) < 1e-12);
});

test("values have a few round ticks, and the largest stands below the top", () => {
  const { ticks, at } = valueScale(0.93, 196, 24);
  assert.deepEqual(ticks, [0, 0.25, 0.5, 0.75]);
  assert.equal(at(0), 188);
  assert.equal(at(0.93), 24);
});

test("labels that would meet are left out, never the last", () => {
  const steps = [0, 10, 20, 30];
  assert.deepEqual(labelledSteps(steps, (step) => 10 * step), [0, 1, 2, 3]);
  assert.deepEqual(labelledSteps(steps, (step) => step), [0, 3]);
  assert.deepEqual(labelledSteps(steps, () => 0), [3]);
});

test("a value that is not defined breaks the line", () => {
  const path = linePath([[0, 1], [1, 2], [2, NaN], [3, 4], [4, 5]]);
  assert.equal(path, "M0.0 1.0L1.0 2.0M3.0 4.0L4.0 5.0");
});
