// A safetensors file as floats, in one memory with the kernel and all that is computed.

import { plainKernel } from "./plain.js";

const PAGE = 65536; // bytes
const BYTES = { F16: 2, F32: 4 };

// file: an ArrayBuffer. kernel: the compiled kernel.wasm; null: JavaScript computes. rooms: name ->
// floats of further room. Returns { run, floats, places, at, rooms }: run has the kernel's
// functions, floats and places are the memory as f32 and i32, at has name -> { place, shape } of
// each tensor and rooms name -> place. A place is an address in bytes.
export function openWeights(file, kernel, rooms) {
  const { entries, start } = headerOf(file);
  let size = 16; // nothing is at 0
  const take = (n) => {
    const place = size;
    size += Math.ceil(n / 4) * 16;
    return place;
  };
  const at = {};
  for (const [name, { shape, dtype }] of Object.entries(entries)) {
    if (!BYTES[dtype]) throw new Error(`${name} is kept as ${dtype}: F16 and F32 are read here.`);
    at[name] = { place: take(count(shape)), shape };
  }
  // Rooms stand last: of those that are made for long texts no page is touched before one comes.
  const placed = Object.fromEntries(Object.entries(rooms).map(([name, n]) => [name, take(n)]));
  const pages = Math.ceil(size / PAGE);
  const memory = kernel && new WebAssembly.Memory({ initial: pages });
  const buffer = kernel ? memory.buffer : new ArrayBuffer(pages * PAGE);
  const [floats, places] = [new Float32Array(buffer), new Int32Array(buffer)];
  const instance = kernel && new WebAssembly.Instance(kernel, { env: { memory } });
  const run = instance ? instance.exports : plainKernel(floats, places);
  const staging = { place: placed.logits, bytes: rooms.logits * 4 };
  for (const [name, { dtype, data_offsets: [from, to] }] of Object.entries(entries)) {
    const part = new Uint8Array(file, start + from, to - from);
    if (dtype === "F32") new Uint8Array(buffer, at[name].place, part.length).set(part);
    else widen(run, buffer, part, at[name].place, staging);
  }
  return { run, floats, places, at, rooms: placed };
}

// The entries of a safetensors file, and where their bytes begin.
function headerOf(file) {
  try {
    const length = Number(new DataView(file).getBigUint64(0, true));
    const entries = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, length)));
    delete entries.__metadata__;
    return { entries, start: 8 + length };
  } catch {
    throw new Error("The file of weights is no whole safetensors file: load it again.");
  }
}

const count = (shape) => shape.reduce((a, b) => a * b, 1);

// halves [n], as bytes -> floats at a place, through the room for what is computed.
function widen(run, buffer, halves, place, staging) {
  for (let from = 0; from < halves.length; from += staging.bytes) {
    const part = halves.subarray(from, from + staging.bytes);
    new Uint8Array(buffer, staging.place, part.length).set(part);
    run.widen(staging.place, place + 2 * from, part.length / 2);
  }
}

// A tensor's numbers, as they stand in memory.
export function tensor({ floats, at }, name) {
  const { place, shape } = at[name];
  return floats.subarray(place / 4, place / 4 + count(shape));
}
