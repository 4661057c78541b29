// A figure within a zip, as viz/paper/crate.py writes it and as people pack it again: files are
// found by the list at the zip's end, and unpacked no further than `most` bytes together.

const BEGINNING = [0x50, 0x4b, 0x03, 0x04];
const LIST = [0x50, 0x4b, 0x05, 0x06]; // what ends a zip, and says where the list of its files is
const ENTRY = 0x02014b50;
const LONGEST_COMMENT = 65535;
const MOST_FILES = 1000;
const FIGURE = /\.(svg|pdf|png)$/i; // as viz/paper/record.py has them
const WAYS = { 0: null, 8: "deflate-raw" };

export function isZip(bytes) {
  return isAt(bytes, 0, BEGINNING);
}

// The bytes of each figure. Throws an Error whose message goes on after the file's name.
export async function figuresIn(bytes, most) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const figures = [];
  let room = most;
  for (const { name, way, isLocked, at, size } of entries(bytes, view)) {
    if (!FIGURE.test(name)) continue;
    if (isLocked || !(way in WAYS)) throw refused("is locked, or packed in a way that is not read here");
    const packed = bytes.subarray(at, at + size);
    const found = WAYS[way] ? await inflated(packed, WAYS[way], room) : packed;
    room -= found.length;
    if (room < 0) throw refused(`holds more than ${most.toLocaleString("en")} bytes when it is unpacked`);
    figures.push(found);
  }
  return figures;
}

function refused(said) {
  return new Error(`${said}: save the crate again, or unpack it and open the figure in it.`);
}

function entries(bytes, view) {
  try {
    return listed(bytes, view);
  } catch (error) {
    throw error instanceof RangeError ? refused("is a zip that is damaged") : error;
  }
}

// Throws a RangeError where something stands outside of the file.
function listed(bytes, view) {
  const end = endOf(bytes);
  const n = view.getUint16(end + 10, true);
  if (n > MOST_FILES) throw refused(`holds more than ${MOST_FILES.toLocaleString("en")} files`);
  const found = [];
  let at = view.getUint32(end + 16, true);
  for (let i = 0; i < n; i++) {
    if (view.getUint32(at, true) !== ENTRY) throw new RangeError("no entry");
    const [long, more, said] = [28, 30, 32].map((place) => view.getUint16(at + place, true));
    const start = view.getUint32(at + 42, true);
    const data = start + 30 + view.getUint16(start + 26, true) + view.getUint16(start + 28, true);
    const size = view.getUint32(at + 20, true);
    if (data + size > bytes.length) throw new RangeError("no data");
    found.push({
      name: new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + long)),
      way: view.getUint16(at + 10, true),
      isLocked: view.getUint16(at + 8, true) & 1,
      at: data,
      size,
    });
    at += 46 + long + more + said;
  }
  return found;
}

function endOf(bytes) {
  const first = Math.max(0, bytes.length - 22 - LONGEST_COMMENT);
  for (let at = bytes.length - 22; at >= first; at--) if (isAt(bytes, at, LIST)) return at;
  throw new RangeError("no end");
}

function isAt(bytes, at, wanted) {
  return wanted.every((byte, i) => bytes[at + i] === byte);
}

// At most one byte more than there is room for, and a piece.
async function inflated(packed, way, room) {
  const pieces = [];
  let n = 0;
  const reader = new Blob([packed]).stream().pipeThrough(new DecompressionStream(way)).getReader();
  try {
    while (n <= room) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      n += value.length;
    }
  } catch {
    throw refused("is a zip that is damaged");
  }
  reader.cancel().catch(() => {});
  return new Uint8Array(await new Blob(pieces).arrayBuffer());
}
