// An answer's text once more, under other changes: read by force, or written anew.

import { decode } from "./decoding.js";
import { best, distributions, read, start } from "./model.js";

// One forced pass: own [T], the log-probabilities of what is written, and likeliest [T], the most
// probable tokens.
export function forced(model, { sourceIds, targetIds, readIds, words }, changes) {
  const { config, floats } = model;
  start(model, config.family === "decoder_only" ? [] : sourceIds, changes, words);
  read(model, readIds, [[]], true);
  const [own, likeliest] = [[], []];
  const first = readIds.length - targetIds.length; // the rows of a prompt write none of it
  distributions(model, readIds.length, (row, from) => {
    if (row < first) return;
    own.push(floats[from + targetIds[row - first]]);
    likeliest.push(...best(floats.subarray(from, from + config.vocab_size), 1));
  });
  return { own, likeliest };
}

// The ids that the answer's decoding writes then.
export function written({ config, model }, { sourceIds, words, asked }, changes) {
  start(model, sourceIds, changes, words);
  const options = { ...config.decoding?.[asked.method], ...asked.options };
  return decode(model, sourceIds, asked.method, options, asked.prefix).hypotheses[0].ids;
}
