// What viz/components/kit/pack.py writes, with nothing but a header.
export function packed(header) {
  const content = new TextEncoder().encode(JSON.stringify({ header, arrays: [] }));
  const bytes = new Uint8Array(4 + content.length);
  new DataView(bytes.buffer).setUint32(0, content.length, true);
  bytes.set(content, 4);
  return bytes;
}
