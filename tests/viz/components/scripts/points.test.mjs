import assert from "node:assert/strict";
import { test } from "node:test";
import { howCounted, isCounted, modeOf } from "../../../../viz/components/question/answering.js";
import { cost, costOfLogs, onOne, sumOf, whole, withPoints } from "../../../../viz/components/question/points.js";

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

test("points are told as whole numbers that are never more than there are", () => {
  assert.deepEqual(whole([33.5, 33.5, 33]), [34, 33, 33]);
  assert.deepEqual(whole([0, 60, 40]), [0, 60, 40]);
  let points = [0, 0, 0, 0, 0, 0, 0];
  for (let i = 0; i < 50; i++) {
    points = withPoints(points, (3 * i) % 7, (35 * i) % 101);
    const told = whole(points);
    assert.ok(told.every((each, j) => Number.isInteger(each) && Math.abs(each - points[j]) < 1));
    assert.ok(sumOf(told) <= 100 && Math.abs(sumOf(told) - sumOf(points)) <= 0.5);
  }
});

test("the mean of what people pay is the cost of the mean of their ln p", () => {
  const [weights, people] = [[0.7, 0.3], [[100, 0], [40, 60], [0, 50]]];
  const shares = (points) => points.map((each) => (0.99 * each) / sumOf(points) + 0.005);
  const logs = [0, 1].map((i) => sumOf(people.map((points) => Math.log(shares(points)[i]))) / 3);
  near(costOfLogs(weights, logs), sumOf(people.map((points) => cost(weights, points))) / 3);
});

test("a phone in a talk waits for the answer; who wandered, or has no room, asks for it alone", () => {
  const [phone, wall] = [{ of: "q", role: "audience" }, { of: "q", role: "stage" }];
  const tally = (more) => ({ of: "q", isThere: true, isLost: false, ...more });
  assert.equal(modeOf({ ...phone, of: "" }, null), "alone");
  assert.equal(modeOf(phone, null), "alone"); // the talk is over
  assert.equal(modeOf(phone, undefined), "guest"); // nothing was told yet
  assert.equal(modeOf(phone, tally()), "guest");
  assert.equal(modeOf(phone, tally({ of: "next" })), "guest"); // it is about to follow
  assert.equal(modeOf(phone, tally({ of: "next", isThere: false })), "alone");
  assert.equal(modeOf(wall, tally({ asked: 0 })), "alone");
  assert.equal(modeOf(wall, tally({ asked: 2 })), "room");
  assert.equal(modeOf(wall, tally({ of: "next", asked: 2 })), "alone");
  const uncounted = "Too long.";
  assert.equal(modeOf({ ...wall, uncounted }, tally({ asked: 2 })), "alone");
  assert.equal(modeOf({ ...phone, uncounted }, tally()), "guest"); // it sees the answer with all others
});

test("an answer is counted when the room says the same, and is kept where there is no connection", () => {
  assert.ok(isCounted([0, 100], [0, 100]) && isCounted([0, 0], null));
  assert.ok(!isCounted([0, 100], null) && !isCounted([0, 100], [100, 0]));
  const answering = { wanted: [0, 100] };
  assert.match(howCounted({ answering }, { mine: null, isLost: true }), /as soon as you are/);
  assert.match(howCounted({ answering }, { mine: null }), /On its way/);
  assert.match(howCounted({ answering }, { mine: [0, 100] }), /^Counted/);
  assert.equal(howCounted({ answering, uncounted: "Too long." }, { mine: null }), "Too long.");
});
