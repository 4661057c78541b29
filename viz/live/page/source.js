// The files of a checkpoint, in the worker: from the page, from the browser's store, or from the host.

const STORE = "headscope";

// A file could not be had; says so in one sentence.
export class NoFile extends Error {}

// parts: [{ path, bytes, digest }] of one file; base: the address of the page. tell(bytes): that many more
// are here. Returns its bytes. Raises NoFile.
export async function fetched(parts, base, tell) {
  const whole = new Uint8Array(parts.reduce((sum, { bytes }) => sum + bytes, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(await fetchedPart(part, base, tell), at);
    at += part.bytes;
  }
  return whole;
}

// The name of a part says what is in it: what was kept under that name is never old.
async function fetchedPart(part, base, tell) {
  const address = new URL(part.path, base).href;
  const kept = await fromStore(address);
  if (kept && (await isRight(kept, part))) {
    tell(part.bytes);
    return kept;
  }
  const bytes = await loaded(address, part, tell);
  if (!(await isRight(bytes, part))) throw new NoFile(`${part.path} is damaged on its way`);
  await intoStore(address, bytes);
  return bytes;
}

async function loaded(address, part, tell) {
  let told = 0;
  try {
    const answer = await fetch(address);
    if (!answer.ok) throw new NoFile(`${part.path} is not there (${answer.status})`);
    const bytes = new Uint8Array(part.bytes);
    for (const reader = answer.body.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) break;
      if (told + value.length > part.bytes) throw new NoFile(`${part.path} is longer than it should be`);
      bytes.set(value, told);
      told += value.length;
      tell(value.length);
    }
    if (told < part.bytes) throw new NoFile(`${part.path} ends after ${told} of ${part.bytes} bytes`);
    return bytes;
  } catch (error) {
    tell(-told); // it is asked for once more from its beginning
    throw error instanceof NoFile ? error : new NoFile(`${part.path} did not come: the connection ended`);
  }
}

// Browsers have digests only where a page is secure; elsewhere the length has to do.
async function isRight(bytes, part) {
  if (bytes.length !== part.bytes) return false;
  if (!globalThis.crypto?.subtle) return true;
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).slice(0, 8);
  const mark = Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return mark === part.digest;
}

async function fromStore(address) {
  try {
    const answer = await (await caches.open(STORE)).match(address);
    return answer && new Uint8Array(await answer.arrayBuffer());
  } catch {
    return null; // no store here, or it may not be read
  }
}

async function intoStore(address, bytes) {
  try {
    await (await caches.open(STORE)).put(address, new Response(bytes));
  } catch {
    // It is full, or there is none: next time the host is asked again.
  }
}

// A file that stands in the page, in base64.
export function decodedText(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const n = (text.length / 4) * 3 - (text.match(/=*$/)?.[0].length ?? 0);
  const bytes = new Uint8Array(n);
  const step = 1 << 20; // a multiple of 4: no group of characters is cut
  for (let from = 0, at = 0; from < text.length; from += step) {
    const piece = atob(text.slice(from, from + step));
    for (let i = 0; i < piece.length; i++) bytes[at++] = piece.charCodeAt(i);
  }
  return bytes;
}
