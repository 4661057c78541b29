// Heads side by side: each in a lane of whole device pixels, so that its picture is drawn once.

import assert from "node:assert/strict";
import test from "node:test";

import { shiftOf } from "../../../../viz/components/head_view/heads.js";
import { createPaint, developed, paintLines } from "../../../../viz/components/head_view/lines.js";

globalThis.ImageData ??= class {
  constructor(width, height) {
    Object.assign(this, { width, height, data: new Uint8ClampedArray(4 * width * height) });
  }
};

const viewOf = (heads, ratio, pitch) => ({ heads, pitch, paint: { ratio }, map: { header: { per_head: true }, nHeads: 12 } });

test("lanes are whole device pixels, in the order of the heads, around the middle", () => {
  for (const ratio of [1, 1.25, 2]) {
    for (const pitch of [12, 18.5, 40]) {
      const view = viewOf([0, 3, 4, 7, 11], ratio, pitch);
      const shifts = view.heads.map((head) => shiftOf(view, head));
      for (const shift of shifts) {
        assert.ok(Math.abs(shift * ratio - Math.round(shift * ratio)) < 1e-9);
        assert.ok(Math.abs(shift) <= pitch / 2);
      }
      assert.deepEqual(shifts, [...shifts].sort((a, b) => a - b));
      assert.ok(Math.abs(shifts[2]) <= 1 / ratio);
    }
  }
});

test("a picture of lines that is moved to a lane is the picture of the lines in that lane", () => {
  const lines = { rows: [0, 1, 2], columns: [2, 0, 1], values: [1, -0.5, 0.3] };
  const drawn = (shift) => {
    const paint = createPaint(40, 60, 1, 10);
    paintLines(paint, lines, "#3366cc", 1, { pitch: 20, top: 0, shift });
    return developed(paint).data;
  };
  const [middle, moved] = [drawn(0), drawn(5)];
  const row = 4 * 40;
  assert.ok(middle.some((value) => value > 0));
  assert.deepEqual(moved.subarray(5 * row), middle.subarray(0, middle.length - 5 * row));
});

test("lines on a wall are so many times as thick, on the screen and in a figure", () => {
  const lines = { rows: [1], columns: [1], values: [0.5] };
  const [usual, thick] = [1, 2].map((times) => {
    const paint = createPaint(40, 60, 1, 10, times);
    paint.strokes = [];
    paintLines(paint, lines, "#3366cc", 1, { pitch: 20, top: 0, shift: 0 });
    return { half: paint.strokes[0].half, ink: developed(paint).data.reduce((sum, value) => sum + value, 0) };
  });
  assert.equal(thick.half, 2 * usual.half);
  assert.ok(thick.ink > 1.5 * usual.ink);
});
