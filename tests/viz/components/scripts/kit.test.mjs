import assert from "node:assert/strict";
import { test } from "node:test";

import { decimals, directionOf, short } from "../../../../viz/components/kit/page.js";
import { placeAfter } from "../../../../viz/components/kit/roving.js";
import { valueTable } from "../../../../viz/components/head_map/paint.js";
import {
  colourAt,
  contrast,
  luminance,
  paintMap,
  pixel,
  pixelTable,
} from "../../../../viz/components/kit/shade.js";

test("arrow keys of one direction move, and stop at both ends", () => {
  assert.equal(placeAfter("ArrowLeft", 0, 4, "row"), 0);
  assert.equal(placeAfter("ArrowRight", 3, 4, "row"), 3);
  assert.equal(placeAfter("ArrowDown", 1, 4, "row"), undefined);
  assert.equal(placeAfter("ArrowDown", 1, 4, "column"), 2);
  assert.equal(placeAfter("ArrowUp", 1, 4, "both"), 0);
  assert.equal(placeAfter("Home", 2, 4, "column"), 0);
  assert.equal(placeAfter("End", 2, 4, "row"), 3);
  assert.equal(placeAfter("Enter", 2, 4, "both"), undefined);
});

test("a row of pieces runs as the first letter of its words does", () => {
  assert.equal(directionOf([["<s>", 1], ["▁12", 0], ["שלום", 0], ["a", 0]]), "rtl");
  assert.equal(directionOf([["(", 0], ["مرحبا", 0]]), "rtl");
  assert.equal(directionOf([["a", 0], ["שלום", 0]]), "ltr");
  assert.equal(directionOf([["12", 0], ["</s>", 1]]), "ltr");
});

test("numbers have a real minus sign, and none before zero", () => {
  assert.equal(decimals(-0.12345), "−0.1235");
  assert.equal(decimals(-0.00001), "0.0000");
  assert.equal(short(-1234.5), "−1230");
});

test("a colour between two of a scale", () => {
  assert.deepEqual(colourAt(["#000000", "#ff0080"], 0.5), [128, 0, 64]);
  assert.equal(Math.round(contrast(luminance([0, 0, 0]), luminance([255, 255, 255]))), 21);
});

test("under one pixel the largest cell is seen, and a masked one only where all are", () => {
  const table = Uint32Array.from({ length: 256 }, (_, byte) => byte);
  const pixels = new Uint32Array(4);
  const cells = Uint8Array.from([1, 9, 255, 255, 3, 2, 255, 255]);
  paintMap({ pixels, width: 2 }, { left: 0, top: 0, width: 2, height: 1 }, cells, 2, 4, table);
  assert.deepEqual([...pixels], [9, 255, 0, 0]);
});

test("the large map shades a weight as the grid and the chips do", () => {
  const scale = ["#ffffff", "#00ff80", "#102030"];
  const [bytes, weights] = [pixelTable({ scale, masked: "#888888" }), valueTable(scale, "#888888")];
  for (const weight of [0, 0.01, 0.25, 0.5, 1]) {
    const wanted = colourAt(scale, Math.sqrt(weight));
    for (const found of [bytes[Math.round(254 * Math.sqrt(weight))], weights[Math.round(1023 * weight)]]) {
      const rgb = [0, 8, 16].map((shift) => (found >> shift) & 255);
      rgb.forEach((channel, i) => assert.ok(Math.abs(channel - wanted[i]) < 5, `${weight}: ${rgb}`));
    }
  }
});

test("a signed map is shaded evenly to both sides", () => {
  const scale = ["#ff0000", "#ffffff", "#0000ff"];
  const even = valueTable(scale, "#888888", true);
  assert.deepEqual([even[0], even[1023]], [pixel([255, 0, 0]), pixel([0, 0, 255])]);
  assert.equal(even[256], pixel(colourAt(scale, 256 / 1023)));
});
