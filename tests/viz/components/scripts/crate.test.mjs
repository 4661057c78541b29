import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";

import { figuresIn } from "../../../../viz/components/figure_drop/crate.js";
import { isZip } from "../../../../viz/components/kit/zip.js";

const MOST = 1000;

// A zip as any program writes it. files: [name, text, { way, flags }].
function zip(files, comment = "") {
  const parts = [];
  const list = [];
  let at = 0;
  for (const [name, text, { way = 8, flags = 0 } = {}] of files) {
    const held = Buffer.from(text);
    const packed = way === 8 ? deflateRawSync(held) : held;
    const title = Buffer.from(name);
    const known = Buffer.alloc(22); // flags to length of extras; no time
    known.writeUInt16LE(flags, 0);
    known.writeUInt16LE(way, 2);
    known.writeUInt32LE(packed.length, 12);
    known.writeUInt32LE(held.length, 16);
    known.writeUInt16LE(title.length, 20);
    const local = Buffer.concat([Buffer.from("PK\x03\x04\x14\x00", "latin1"), known, Buffer.alloc(2), title]);
    const place = Buffer.alloc(4);
    place.writeUInt32LE(at);
    const entry = [Buffer.from("PK\x01\x02\x14\x00\x14\x00", "latin1"), known, Buffer.alloc(12), place, title];
    list.push(Buffer.concat(entry));
    parts.push(local, packed);
    at += local.length + packed.length;
  }
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", "latin1");
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(at, 16);
  end.writeUInt16LE(comment.length, 20);
  return new Uint8Array(Buffer.concat([...parts, ...list, end, Buffer.from(comment)]));
}

const texts = async (bytes, most = MOST) =>
  (await figuresIn(bytes, most)).map((each) => new TextDecoder().decode(each));

test("figures of a zip are unpacked in their order, whatever stands beside them", async () => {
  const files = [["a.txt", "no"], ["x/figure.SVG", "one"], ["figure.pdf", "two", { way: 0 }], ["ä.png", ""]];
  assert.deepEqual(await texts(zip(files)), ["one", "two", ""]);
  assert.deepEqual(await texts(zip(files, "a comment")), ["one", "two", ""]);
  assert.ok(isZip(zip(files)) && !isZip(new TextEncoder().encode("<svg/>")) && !isZip(new Uint8Array(2)));
});

test("nothing is unpacked beyond the limit", async () => {
  const bomb = zip([["a.svg", "0".repeat(3e7)]]);
  assert.ok(bomb.length < 1e5);
  await assert.rejects(texts(bomb), /holds more than 1,000 bytes when it is unpacked: save the crate again/);
  const both = [["a.svg", "0".repeat(600)], ["b.svg", "0".repeat(600)]];
  await assert.rejects(texts(zip(both)), /more than 1,000 bytes/);
  assert.deepEqual(await texts(zip([["a.txt", "0".repeat(1e6)]])), []);
  await assert.rejects(texts(zip(Array(1001).fill(["a.svg", ""]))), /holds more than 1,000 files/);
});

test("what is locked or packed in another way is refused", async () => {
  await assert.rejects(texts(zip([["a.svg", "1", { flags: 1 }]])), /is locked/);
  await assert.rejects(texts(zip([["a.svg", "1", { way: 12 }]])), /packed in a way/);
});

test("whatever is damaged ends in a sentence", async () => {
  const whole = zip([["a.svg", "abc".repeat(30)], ["b.png", "x", { way: 0 }]]);
  const damaged = Array.from(whole, (_, n) => whole.subarray(0, n));
  for (let i = 0; i < whole.length; i++) for (const byte of [0, 255]) damaged.push(whole.with(i, byte));
  const said = new Set();
  for (const bytes of damaged) {
    await texts(bytes).catch((error) => said.add(error.message));
  }
  const all = [...said];
  assert.ok(all.some((each) => each.startsWith("is a zip that is damaged: save the crate again")));
  assert.ok(all.every((each) => each.endsWith("unpack it and open the figure in it.")), all.join("\n"));
});
