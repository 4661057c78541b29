// A safetensors file as floats, in one memory with the kernel and all that is computed.

import { plainKernel } from "./plain.js";

const [PAGE, LINE] = [65536, 64]; // bytes of WebAssembly's memory, and of what a processor reads
const BYTES = { F16: 2, F32: 4 };

// file: an ArrayBuffer. kernel: the compiled kernel.wasm; null: JavaScript computes. rooms: name ->
// floats of further room. Returns { run, floats, places, at, rooms }: run has the kernel's
// functions, floats and places are the memory as f32 and i32, at has name -> { place, shape } of
// each tensor and rooms name -> place. A place is an address in bytes.
export function openWeights(file, kernel, rooms) {
  const { entries, start } = headerOf(file);
  let size = LINE; // nothing is at 0
  const take = (bytes) => {
    const place = size;
    size += Math.ceil(bytes / LINE) * LINE;
    return place;
  };
  const at = {};
  for (const [name, { shape, dtype }] of Object.entries(entries)) {
    if (!BYTES[dtype]) throw new Error(`${name} is kept as ${dtype}: F16 and F32 are read here.`);
    // The kernel takes matrices as they are kept, which is half as much to read; all else is made
    // floats once.
    const isHalf = Boolean(kernel) && dtype === "F16" && shape.length > 1;
    at[name] = { place: take(count(shape) * (isHalf ? 2 : 4)), shape, isHalf };
  }
  // Rooms stand last: of those that are made for long texts no page is touched before one comes.
  const placed = Object.fromEntries(Object.entries(rooms).map(([name, n]) => [name, take(4 * n)]));
  const pages = Math.ceil(size / PAGE);
  const memory = kernel && new WebAssembly.Memory({ initial: pages });
  const buffer = kernel ? memory.buffer : new ArrayBuffer(pages * PAGE);
  const [floats, places] = [new Float32Array(buffer), new Int32Array(buffer)];
  const instance = kernel && new WebAssembly.Instance(kernel, { env: { memory } });
  const run = instance ? instance.exports : plainKernel(floats, places);
  for (const [name, { dtype, data_offsets: [from, to] }] of Object.entries(entries)) {
    const part = new Uint8Array(file, start + from, to - from);
    const { place, isHalf } = at[name];
    const isNarrow = dtype === "F16" && !isHalf;
    // Halves wait in the second half of their place: each is read before a float stands there.
    const here = isNarrow ? place + part.length : place;
    new Uint8Array(buffer, here, part.length).set(part);
    if (isNarrow) run.widen(here, place, part.length / 2);
  }
  return { run, floats, places, at, rooms: placed };
}

// The entries of a safetensors file, and where their bytes begin.
export function headerOf(file) {
  try {
    const length = Number(new DataView(file).getBigUint64(0, true));
    const entries = JSON.parse(new TextDecoder().decode(new Uint8Array(file, 8, length)));
    delete entries.__metadata__;
    const start = 8 + length;
    const ends = Object.values(entries).map(({ data_offsets: [, to] }) => start + to);
    if (Math.max(...ends) > file.byteLength) throw new RangeError("cut short");
    return { entries, start };
  } catch {
    throw new Error("The file of weights is not a whole safetensors file: load it again.");
  }
}

const count = (shape) => shape.reduce((a, b) => a * b, 1);

// A tensor's numbers, as they stand in memory.
export function tensor({ floats, at }, name) {
  const { place, shape } = at[name];
  return floats.subarray(place / 4, place / 4 + count(shape));
}
