// The arrays of an .npz or .safetensors file, as transformer/files/weights_file.py reads them: numbers
// and texts by their names. Nothing in a file is run.

import { BadZip, listed, unzipped } from "../../components/kit/zip.js";
import { headerOf } from "../engine/weights.js";
import { filled, grouped } from "../payloads/numbers.js";

const MAGIC = [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59];
// Numbers by their names: the view of their bytes. Two halves have none, and are read as bits.
const VIEWS = {
  float64: Float64Array,
  float32: Float32Array,
  float16: Uint16Array,
  bfloat16: Uint16Array,
  bool: Uint8Array,
  int8: Int8Array,
  int16: Int16Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  uint64: BigUint64Array,
};
const LETTERS = { f: "float", i: "int", u: "uint", c: "complex", b: "bool" };
const SAFE = { F: "float", I: "int", U: "uint", BF: "bfloat", BOOL: "bool" };

// An answer to a file that is not taken, in one sentence.
export class NotTaken extends Error {}

// name, bytes: of the file. says: `says` of viz/live/bare_arrays.py, with its limits. Returns name ->
// { type, shape, values }, or a text; values: a typed array, row by row. Throws NotTaken.
export async function arraysIn(name, bytes, says) {
  const refused = (template, values = {}) => {
    return new NotTaken(`${name} ${filled(says[template], values)}.`);
  };
  const isZipped = name.toLowerCase().endsWith(".npz");
  try {
    if (!isZipped) return safetensors(bytes, refused);
    return await npz(bytes, says, refused);
  } catch (error) {
    throw error instanceof NotTaken ? error : refused("not_whole");
  }
}

async function npz(bytes, { most_parts: mostParts, most_unpacked: most }, refused) {
  const files = listed(bytes, mostParts);
  const n = files.reduce((sum, file) => sum + file.n, 0);
  if (n > most) throw refused("unpacks", { n_bytes: grouped(n), most: grouped(most) });
  const arrays = new Map();
  for (const file of files) {
    const content = await unzipped(bytes, file, file.n);
    if (content.length !== file.n) throw new BadZip("damaged");
    const name = file.name.replace(/\.npy$/, "");
    arrays.set(name, npy(name, content, refused));
  }
  return arrays;
}

// The format of numpy.lib.format: a header that is a dict of Python's, and the bytes.
function npy(name, bytes, refused) {
  if (!MAGIC.every((byte, i) => bytes[i] === byte)) throw new RangeError("no array");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [from, length] = bytes[6] > 1 ? [12, view.getUint32(8, true)] : [10, view.getUint16(8, true)];
  const header = new TextDecoder("latin1").decode(bytes.subarray(from, from + length));
  const [, order, letter, size] = /'descr':\s*'([<>|=]?)(\w)(\d*)'/.exec(header) ?? [];
  const [, axes] = /'shape':\s*\(([\d\s,]*)\)/.exec(header);
  const shape = axes.split(",").filter((each) => each.trim()).map(Number);
  const content = bytes.subarray(from + length);
  if (letter === "O") throw refused("objects");
  if (letter === "U" && !shape.length) return textOf(ordered(content, order, 4));
  const type = letter === "b" ? "bool" : `${LETTERS[letter] ?? letter}${8 * size}`;
  const array = arrayOf(name, type, shape, ordered(content, order, Number(size)), refused);
  return /'fortran_order':\s*True/.test(header) ? { ...array, values: byRows(array) } : array;
}

function safetensors(bytes, refused) {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const { entries, start } = headerOf(file);
  const arrays = Object.entries(entries).map(([name, { dtype, shape, data_offsets: [from, to] }]) => {
    const [, letters, size] = /^([A-Z]+)(\d*)$/.exec(dtype) ?? [];
    const type = `${SAFE[letters] ?? dtype}${size ?? ""}`;
    return [name, arrayOf(name, type, shape, new Uint8Array(file, start + from, to - from), refused)];
  });
  return new Map(arrays);
}

function arrayOf(name, type, shape, bytes, refused) {
  const View = VIEWS[type];
  if (!View) throw refused("no_numbers", { name, type });
  const n = shape.reduce((a, b) => a * b, 1);
  if (bytes.length !== n * View.BYTES_PER_ELEMENT) throw new RangeError("cut short");
  // Wider numbers must start at a multiple of their size: only a copy is sure to.
  return { type, shape, values: new View(bytes.slice().buffer) };
}

// Bytes in the order of this machine, the little end first.
function ordered(bytes, order, size) {
  if (order !== ">") return bytes;
  const turned = bytes.slice();
  for (let at = 0; at < turned.length; at += size) turned.subarray(at, at + size).reverse();
  return turned;
}

// The values of an array that is kept column by column (Fortran's order), row by row.
function byRows({ shape, values }) {
  const steps = shape.map((_, axis) => shape.slice(0, axis).reduce((a, b) => a * b, 1));
  return values.map((_, i) => {
    let [rest, at] = [i, 0];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      at += (rest % shape[axis]) * steps[axis];
      rest = Math.floor(rest / shape[axis]);
    }
    return values[at];
  });
}

// UTF-32, which numpy fills up with zeros.
function textOf(bytes) {
  const signs = new Uint32Array(bytes.slice().buffer);
  const end = signs.findLastIndex((sign) => sign) + 1;
  let text = "";
  for (const sign of signs.subarray(0, end)) text += String.fromCodePoint(sign);
  return text;
}

// The numbers of an array as float32, as torch makes them of any type.
export function floatsOf({ type, values }) {
  if (type === "float32") return values;
  if (type === "bfloat16") return new Float32Array(Uint32Array.from(values, (bits) => bits << 16).buffer);
  return Float32Array.from(values, type === "float16" ? ofHalf : Number);
}

function ofHalf(bits) {
  const [sign, exponent, part] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return part ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent ? (1 + part / 1024) * 2 ** (exponent - 15) : part * 2 ** -24);
}
