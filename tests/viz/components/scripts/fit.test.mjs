import assert from "node:assert";
import { test } from "node:test";

import { largest } from "../../../../viz/components/head_grid/fit.js";

const kinds = (n, lines, columns = 8) =>
  Array.from({ length: n }, () => ({ columns, lines, shape: 1, gap: 7, between: 7 }));

test("three kinds of three layers are as large as the height allows", () => {
  const cell = largest(kinds(3, 3), 700, 600);
  assert.ok(9 * (cell + 7) <= 600);
  assert.ok(9 * (cell + 8) + 60 >= 600);
});

test("a high room is limited by its width, and cells have a largest size", () => {
  const cell = largest(kinds(3, 3), 515, Infinity);
  assert.ok(8 * (cell + 7) <= 515);
  assert.strictEqual(largest(kinds(1, 1, 2), 2000, 2000), 104);
});

test("kinds of many layers stand side by side where that makes them larger", () => {
  const [beside, below] = [largest(kinds(3, 6), 1200, 500), (500 - 60) / 18 - 7];
  assert.ok(beside > below);
});

test("rather than too small to see, the page scrolls", () => {
  assert.strictEqual(largest(kinds(3, 24), 800, 500), 44);
});
