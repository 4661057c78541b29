// Files within a zip: they are found by the list at its end, and unpacked no further than asked for.

const BEGINNING = [0x50, 0x4b, 0x03, 0x04];
const LIST = [0x50, 0x4b, 0x05, 0x06]; // what ends a zip, and says where the list of its files is
const ENTRY = 0x02014b50;
const LONGEST_COMMENT = 65535;
const WAYS = { 0: null, 8: "deflate-raw" };

// The reason why is its message: "damaged", "locked" or "many".
export class BadZip extends Error {}

export function isZip(bytes) {
  return isAt(bytes, 0, BEGINNING);
}

// [{ name, n, way, isLocked, at, size }] of each file; n: its bytes once it is unpacked, as the zip says.
// Throws BadZip.
export function listed(bytes, mostFiles) {
  try {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const end = endOf(bytes);
    const n = view.getUint16(end + 10, true);
    if (n > mostFiles) throw new BadZip("many");
    const files = [];
    let at = view.getUint32(end + 16, true);
    for (let i = 0; i < n; i++) {
      if (view.getUint32(at, true) !== ENTRY) throw new BadZip("damaged");
      const [long, more, comment] = [28, 30, 32].map((place) => view.getUint16(at + place, true));
      const start = view.getUint32(at + 42, true);
      const data = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
      const size = view.getUint32(at + 20, true);
      if (data + size > bytes.length) throw new BadZip("damaged");
      files.push({
        name: new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + long)),
        n: view.getUint32(at + 24, true),
        way: view.getUint16(at + 10, true),
        isLocked: view.getUint16(at + 8, true) & 1,
        at: data,
        size,
      });
      at += 46 + long + more + comment;
    }
    return files;
  } catch (error) {
    throw error instanceof RangeError ? new BadZip("damaged") : error;
  }
}

// The bytes of one of them: of more than `most` the first, at most a piece more. Throws BadZip.
export async function unzipped(bytes, { at, size, way, isLocked }, most) {
  if (isLocked || !(way in WAYS)) throw new BadZip("locked");
  const packed = bytes.subarray(at, at + size);
  if (!WAYS[way]) return packed;
  const pieces = [];
  let n = 0;
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream(WAYS[way])).getReader();
  try {
    while (n <= most) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      n += value.length;
    }
  } catch {
    throw new BadZip("damaged");
  }
  reader.cancel().catch(() => {});
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}

function endOf(bytes) {
  const first = Math.max(0, bytes.length - 22 - LONGEST_COMMENT);
  for (let at = bytes.length - 22; at >= first; at--) if (isAt(bytes, at, LIST)) return at;
  throw new BadZip("damaged");
}

function isAt(bytes, at, wanted) {
  return wanted.every((byte, i) => bytes[at + i] === byte);
}
