// What token_rows is given, as viz/components/token_rows/token_rows.py packs it.

import { meanOfHeads } from "./maps.js";
import { filled, grouped, number, percent, rounded } from "./numbers.js";
import { pack } from "./pack.js";

// answer: of viz/live/engine/answer.js.
export function tokenRows(site, answer, { asWords }) {
  const [source, target] = [answer.source, answer.target].map((tokens) => {
    return piecesOf(site.words, tokens, asWords);
  });
  const { titles, tints, least } = site.token_rows;
  const certainty = certainties(site, answer);
  const lines = alignment(site, answer);
  return pack({ source, target, titles, certainty, tints, alignment: lines, least });
}

// Where pieces are asked for, each is seen.
function piecesOf(words, tokens, asWords) {
  const pieces = words.piecesOfWords(tokens, asWords);
  return asWords ? pieces : pieces.map(([, ...rest], i) => [words.bareLabel(tokens[i]), ...rest]);
}

// The depth of each written word's tint by each measure, 0 to 1, and the numbers.
function certainties({ words, numbers, token_rows: rows }, { target, steps }) {
  const { full, certain, certain_of_several: several } = rows;
  const result = [];
  for (const group of steps.length ? words.groups(target) : []) {
    const own = group.map((i) => steps[i]);
    const [nats, bits] = ["logProb", "entropy"].map((name) => {
      return own.reduce((sum, step) => sum + step[name], 0);
    });
    const ranks = own.map(({ rank }) => rank);
    const depths = [
      -nats / full.log_prob,
      Math.log(Math.max(...ranks)) / Math.log(full.rank),
      bits / full.entropy,
    ];
    const text = filled(ranks.length > 1 ? several : certain, {
      share: percent(numbers, Math.exp(nats)),
      nats: number(nats),
      bits: number(bits),
      ranks: ranks.map(grouped).join(", "),
      n: ranks.length,
    });
    const shown = depths.map((depth) => rounded(Math.min(1, Math.max(0, depth)), 3));
    for (const i of group) result[i] = [...shown, text];
  }
  return result;
}

// From each written word to the source word that the last layer looks at most, in the mean of its
// heads: the first positions of both, and the weight; null where nothing looks from one to the other.
function alignment({ words, layers, token_rows: { least } }, { source, target, weights }) {
  if (!layers.cross) return null;
  const last = weights("cross", layers.cross.length - 1);
  const mean = meanOfHeads(last, target.length * source.length);
  const ofSource = words.groups(source);
  return words.groups(target).flatMap((group) => {
    const shares = ofSource.map((word) => {
      const ofPiece = (i) => word.reduce((sum, j) => sum + mean[i * source.length + j], 0);
      return group.reduce((sum, i) => sum + ofPiece(i), 0) / group.length;
    });
    const most = Math.max(...shares);
    if (!(most > 0) || most < least) return [];
    return [[group[0], ofSource[shares.indexOf(most)][0], rounded(most, 4)]];
  });
}
