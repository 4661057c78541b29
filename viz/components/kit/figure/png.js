// What a PNG says of itself: texts, and how many of its pixels are an inch.

const SIGNATURE = 8; // bytes before the first chunk
const HEADER = 25; // of the first chunk, which says how large the picture is
const PER_METRE = 96 / 0.0254; // CSS pixels

// texts: keyword -> text. Returns the bytes of the same picture with these.
export function described(bytes, texts, scale) {
  const said = Object.entries(texts).filter(([, text]) => text);
  const parts = [resolution(scale), ...said.map(([name, text]) => international(name, text))];
  const end = SIGNATURE + HEADER;
  return concatenated([bytes.subarray(0, end), ...parts, bytes.subarray(end)]);
}

function resolution(scale) {
  const data = new DataView(new ArrayBuffer(9));
  for (const at of [0, 4]) data.setUint32(at, Math.round(PER_METRE * scale));
  data.setUint8(8, 1); // metres
  return chunk("pHYs", new Uint8Array(data.buffer));
}

// Not compressed, and in no particular language.
function international(keyword, text) {
  const encode = (part) => new TextEncoder().encode(part);
  return chunk("iTXt", concatenated([encode(keyword), new Uint8Array(5), encode(text)]));
}

function chunk(type, data) {
  const whole = new Uint8Array(12 + data.length);
  const view = new DataView(whole.buffer);
  view.setUint32(0, data.length);
  whole.set(new TextEncoder().encode(type), 4);
  whole.set(data, 8);
  view.setUint32(8 + data.length, checksum(whole.subarray(4, 8 + data.length)));
  return whole;
}

// CRC-32, as PNG wants it.
function checksum(bytes) {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

function concatenated(parts) {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
