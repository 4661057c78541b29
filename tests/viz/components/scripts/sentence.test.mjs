import assert from "node:assert/strict";
import { test } from "node:test";

import { amount, saidOf, textOf } from "../../../../viz/components/kit/sentence.js";

const WORDS = {
  seen: "While writing {row}, head {head} of layer {layer} looks at {column} ({value}).",
  masked: "While writing {row}, head {head} of layer {layer} may not look at {column} (masked).",
};
const CELL = { row: ["▁Tier", 0], column: ["▁animal", 0], layer: 2, head: 3, value: 0.99841 };

test("a cell in one sentence", () => {
  const said = saidOf(WORDS, CELL, "Pointed at", true);
  assert.equal(textOf(said), "While writing Tier, head 3 of layer 2 looks at animal (0.998).");
  assert.deepEqual([said.why, said.isPointed], ["Pointed at", true]);
});

test("a masked cell has no weight", () => {
  const said = textOf(saidOf(WORDS, { ...CELL, value: NaN }, ""));
  assert.equal(said, "While writing Tier, head 3 of layer 2 may not look at animal (masked).");
});

test("a piece is data, whatever it looks like", () => {
  const said = saidOf(WORDS, { ...CELL, row: ["{value}", 0], column: ["<b>{head}", 0] }, "");
  assert.equal(textOf(said), "While writing {value}, head 3 of layer 2 looks at <b>{head} (0.998).");
});

test("what is not 0 is never shown as 0", () => {
  const numbers = [0, -0, 1, 0.0625, 0.0004999, -0.0001, -2.3456];
  const written = ["0", "0", "1.000", "0.063", "below 0.001", "above −0.001", "−2.346"];
  assert.deepEqual(numbers.map(amount), written);
  const large = [999999, 1234567, -2e26, Infinity, -Infinity];
  const short = ["999999.000", "1.235e+06", "−2.000e+26", "infinite", "−infinite"];
  assert.deepEqual(large.map(amount), short);
});

test("without a cell there is only the reason", () => {
  assert.equal(textOf(saidOf(WORDS, null, "No head is shown: choose one.")), "");
});
