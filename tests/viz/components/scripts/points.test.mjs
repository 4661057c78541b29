import assert from "node:assert/strict";
import { test } from "node:test";
import { cost, onOne, withPoints } from "../../../../viz/components/question/points.js";

const near = (found, expected) => assert.ok(Math.abs(found - expected) < 1e-4, `${found} is not ${expected}`);

test("a tap puts all points on a word", () => {
  assert.deepEqual(onOne(3, 1), [0, 100, 0]);
});

test("points never are more than 100: the others give way in proportion", () => {
  assert.deepEqual(withPoints([0, 0, 0], 1, 30), [0, 30, 0]);
  assert.deepEqual(withPoints([80, 0, 20], 1, 50), [40, 50, 10]);
  assert.deepEqual(withPoints([40, 50, 10], 1, 0), [40, 0, 10]);
});

test("the cost is -sum A ln p in nats, never infinite, and least at the weights", () => {
  const weights = [0.5, 0.25, 0.25];
  near(cost(weights, [1, 1, 1]), Math.log(3));
  const sure = -(0.5 * Math.log(0.99 + 0.01 / 3) + 0.5 * Math.log(0.01 / 3)); // as Python's shares
  near(cost(weights, [100, 0, 0]), sure);
  assert.ok(cost(weights, [50, 25, 25]) < cost(weights, [45, 30, 25]));
  assert.equal(cost(weights, [0, 0, 0]), null);
});
