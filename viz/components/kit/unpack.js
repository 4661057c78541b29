// The reader of viz/components/kit/browser.py.

const VIEWS = { "|u1": Uint8Array, "<u2": Uint16Array, "<i4": Int32Array, "<f4": Float32Array };

// Uint8Array -> { header, arrays }; each array is a typed array with a `shape`.
export function unpack(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const content = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const start = Math.ceil((4 + length) / 8) * 8;
  const arrays = content.arrays.map(({ dtype, shape, offset }) => {
    const View = VIEWS[dtype];
    const n = shape.reduce((a, b) => a * b, 1);
    const from = start + offset;
    const part = bytes.subarray(from, from + n * View.BYTES_PER_ELEMENT);
    // Wider numbers must start at a multiple of their size: only a copy is sure to.
    const array = View === Uint8Array ? part : new View(part.slice().buffer);
    array.shape = shape;
    return array;
  });
  return { header: content.header, arrays };
}

// What viz/components/kit/browser.py's envelope() holds: { nonce, palette, ...state, payload }.
export function openEnvelope(bytes) {
  const { header, arrays } = unpack(bytes);
  return { ...header, payload: arrays[0] };
}
