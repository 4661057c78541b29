// A JSON header and arrays in one Uint8Array: `pack`, `envelope` and `digest` of
// viz/components/kit/browser.py. viz/components/kit/unpack.js reads it.

const NAMES = new Map([
  [Uint8Array, "|u1"],
  [Uint16Array, "<u2"],
  [Int32Array, "<i4"],
  [Float32Array, "<f4"],
]);
const ALIGNMENT = 8;

// arrays: typed arrays, each with its shape: [array, ...shape].
export function pack(header, ...arrays) {
  let size = 0;
  const entries = arrays.map(([array, ...shape]) => {
    const entry = { dtype: NAMES.get(array.constructor), shape, offset: size };
    size += padded(array.byteLength);
    return entry;
  });
  const text = new TextEncoder().encode(JSON.stringify({ header, arrays: entries }));
  const start = padded(4 + text.length);
  const bytes = new Uint8Array(start + size);
  new DataView(bytes.buffer).setUint32(0, text.length, true);
  bytes.set(text, 4);
  arrays.forEach(([{ buffer, byteOffset, byteLength }], i) => {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), start + entries[i].offset);
  });
  return bytes;
}

// A payload with what may change while it stays the same. head: the palette and the state that a
// component begins with, as `heads` of viz/live/tables.py has it; state: what is otherwise now.
export function envelope(payload, head, state = {}) {
  return pack({ ...head, ...state, nonce: digest(payload) }, [payload, payload.length]);
}

// A short name of a content, the same for the same: FNV-1a, twice. It need not be that of Python.
export function digest(content) {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  let [a, b] = [0x811c9dc5, 0x1000193];
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x1000193);
    b = Math.imul(b ^ byte, 0x85ebca6b) ^ (b >>> 13);
  }
  return [a, b].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join("");
}

function padded(n) {
  return Math.ceil(n / ALIGNMENT) * ALIGNMENT;
}
