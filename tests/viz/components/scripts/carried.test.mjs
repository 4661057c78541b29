import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";

import { addressOf } from "../../../../viz/components/figure_drop/carried.js";

const LIMITS = { mark: "headscope-figure:", longest: 4096 };

function file(said, before = "%PDF (\\)", after = ") /Producer") {
  const base64 = Buffer.from(typeof said === "string" ? said : JSON.stringify(said)).toString("base64");
  const word = base64.replaceAll("+", "-").replaceAll("/", "_"); // padded, as Python writes it
  return new TextEncoder().encode(`${before}headscope-figure:${word}${after}`);
}

test("the address is found wherever it stands", () => {
  const said = { page: "decode", query: "kind=cross&text=%C3%BC%20%3Cb%3E&step=3", title: "ü" };
  assert.deepEqual(addressOf(file(said), LIMITS), { page: "decode", query: said.query });
  assert.equal(addressOf(file({ ...said, page: "explore" }, ""), LIMITS).page, "");
  assert.equal(addressOf(file(said, "headscope-figurheadscope-"), LIMITS).query, said.query);
});

test("what carries none is refused in words that go on after its name", () => {
  for (const bytes of [new Uint8Array(0), new Uint8Array(999), file("", "", "")]) {
    assert.throws(() => addressOf(bytes, LIMITS), /^Error: carries no state of Headscope/);
  }
});

test("an address leads to no other site and no other page's path", () => {
  const hostile = [
    { page: "//evil.example", query: "" },
    { page: "..", query: "" },
    { page: "decode", query: "a#b" },
    { page: "decode", query: "a b" },
    { page: "decode", query: '"><script>' },
    { page: "decode", query: 3 },
    { page: ["decode"], query: "" },
    null,
    7,
  ];
  for (const said of hostile.slice(0, 7)) assert.throws(() => addressOf(file(said), LIMITS), /damaged/);
  for (const said of hostile.slice(7)) assert.throws(() => addressOf(file(said), LIMITS));
});

test("a word without an end is cut", () => {
  const endless = new TextEncoder().encode(`headscope-figure:${"A".repeat(1e6)}`);
  assert.throws(() => addressOf(endless, LIMITS), /damaged/);
});
