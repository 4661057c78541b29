// What is said of an answer beside it, by the thresholds and in the words of viz/ui/notes.py.

import { filled } from "./models.js";

// facts: { logProb, nWritten, nRead, isEnded }. model: { reads, usual }: what it reads, and { n, least:
// method -> nats } of held-out sentences, or null. words: templates, and `long`: tokens of a long
// source, and the least share. What writes nothing has no notes.
export function notesOf({ logProb, nWritten, nRead, isEnded }, { reads, usual }, method, words) {
  const notes = [];
  if (!nWritten) return notes;
  const [mean, least] = [logProb / nWritten, usual?.least[method]];
  if (mean < least) {
    const [share, usually] = [mean, least].map((nats) => `${(100 * Math.exp(nats)).toFixed(0)} %`);
    notes.push(filled(words.guess, { share, usually, n: usual.n }));
  }
  const [long, part] = words.long;
  if (reads === "source" && isEnded && nRead >= long && nWritten < part * nRead) {
    notes.push(filled(words.short, { written: nWritten, read: nRead }));
  }
  if (!isEnded) {
    const text = filled(words.endless, { tokens: `${nWritten} tokens` });
    notes.push(`${text[0].toUpperCase()}${text.slice(1)}.`);
  }
  return notes;
}
