// The worker: it fetches a checkpoint, opens it, and answers texts with the bytes that components draw.

import { answered, opened } from "../engine/answer.js";
import { payloadsOf } from "../payloads/payloads.js";
import { decodedText, fetched, NoFile } from "./source.js";

const TOLD_EVERY = 100; // ms between two messages of how far the files are

// Of all that is asked the newest is answered: the page asks again once this has answered.
export default function serve(self) {
  const models = { name: null, open: null };
  self.onmessage = async ({ data }) => {
    const { what, n } = data;
    const begun = performance.now();
    try {
      if (what === "open") self.postMessage({ what: "opened", ...(await openModel(models, data, self)) });
      else if (!models.open) throw new Error("No model is open.");
      else self.postMessage(...replyTo(models.open, data, begun));
    } catch (error) {
      const isFile = error instanceof NoFile;
      self.postMessage({ what: "failed", n, of: what, name: data.name, isFile, sentence: error.message });
    }
  };
}

// files: name -> parts of it, or its text in base64; kernel: null where JavaScript multiplies.
async function openModel(models, { name, files, base, config, tables }, self) {
  let [have, last] = [0, 0];
  const all = Object.values(files).filter(Array.isArray).flat();
  const of = all.reduce((sum, { bytes }) => sum + bytes, 0);
  const tell = (bytes) => {
    have += bytes;
    if (performance.now() - last < TOLD_EVERY) return;
    last = performance.now();
    self.postMessage({ what: "progress", name, have, of });
  };
  const read = async (file) => (typeof file === "string" ? decodedText(file) : fetched(file, base, tell));
  const [model, tokenizer, kernel] = await Promise.all([read(files.model), read(files.tokenizer), read(files.kernel)]);
  const begun = performance.now();
  models.open = null; // two models at once would be twice the memory
  models.open = opened({ model, tokenizer, kernel: hasKernel() ? kernel : null, config, tables });
  models.name = name;
  return { name, ms: performance.now() - begun };
}

function hasKernel() {
  return typeof WebAssembly === "object";
}

function replyTo(open, data, begun) {
  const answer = answered(open, data);
  if (data.what === "say") return [{ what: "said", n: data.n, answer: numbersOf(answer) }];
  const payloads = payloadsOf(open.tables, answer, data.pictures);
  const message = { what: "answered", n: data.n, payloads, text: answer.text, ms: performance.now() - begun };
  return [message, Object.values(payloads).map(({ buffer }) => buffer)];
}
