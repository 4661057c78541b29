// What decode_player is given, as viz/components/decode_player/decode_player.py packs it.

import { meanOfHeads, mergeColumns } from "./maps.js";
import { percent, rounded } from "./numbers.js";
import { digest, pack } from "./pack.js";
import { single } from "./words.js";

// answer: of viz/live/engine/answer.js. head: null for the mean of a layer's heads.
export function decodePlayer(site, answer, { layer, head = null, asWords }) {
  const { words } = site;
  const { source, target, read, token, steps } = answer;
  const groups = asWords ? (tokens) => words.groups(tokens) : single;
  const [ofSource, ofRead] = [groups(source), groups(read)];
  const played = steps.map((step, i) => {
    return stepOf(site, answer, step, asWords ? target.slice(0, i) : null);
  });
  const isInPieces = ({ candidates }) => candidates.some(({ id }) => words.isPart(token(id)));
  const numbers = played.map(({ ids, candidates: all }) => [ids, all.map((each) => each.slice(2))]);
  const header = {
    decoding: digest(JSON.stringify([[...source, ...target].map(({ id }) => id), numbers])),
    coverage: true,
    layer: site.layers.decoder_self[layer],
    head,
    sentences: site.decode_player[head === null ? "mean" : "head"],
    before: 1,
    columns: { source: ofSource, read: ofRead },
    source: names(words, source, ofSource, asWords),
    prompt: [],
    target: words.piecesOfWords(target, asWords),
    read: names(words, read, ofRead, asWords),
    ids: target.map(({ id }) => id),
    steps: played,
    in_pieces: asWords && steps.some(isInPieces),
    word_of: asWords ? words.groups(target).flatMap((group, i) => group.map(() => i)) : [],
  };
  const [cross, own] = ["cross", "decoder_self"].map((kind) => answer.weights(kind, layer));
  const [area, ofOwn] = [source, read].map(({ length }) => target.length * length);
  const soFar = received(meanOfHeads(cross, area), source.length);
  const arrays = [
    [rowsOf(cross, area, head), source.length, ofSource],
    [rowsOf(own, ofOwn, head), read.length, ofRead],
    [soFar, source.length, ofSource],
  ];
  const merged = arrays.map(([weights, nKeys, all]) => {
    return [mergeColumns(weights, nKeys, all), target.length, all.length];
  });
  return pack(header, ...merged);
}

function rowsOf(weights, area, head) {
  if (head === null) return meanOfHeads(weights, area);
  return weights.subarray(head * area, (head + 1) * area);
}

// What each source token has received after each step.
function received(weights, nKeys) {
  const sums = Float64Array.from(weights);
  for (let i = nKeys; i < sums.length; i++) sums[i] += sums[i - nKeys];
  return Float32Array.from(sums);
}

// Label and whether special, for each column; of words without the space before them.
function names(words, tokens, groups, asWords) {
  if (!asWords) return words.pieces(tokens);
  return groups.map((group) => {
    const members = group.map((i) => tokens[i]);
    return [words.text(members), Number(Boolean(members[0].special))];
  });
}

// One step; a chosen token that is not among the best is added below them. before: what stands
// there already, where words are shown.
function stepOf({ words, numbers, vocab_size: nTokens }, { token }, step, before) {
  const { candidates, id: chosen, prob, rest, entropy } = step;
  const isIn = candidates.some(({ id }) => id === chosen);
  const all = isIn ? candidates : [...candidates, step];
  const left = isIn ? rest : Math.max(0, rest - prob);
  return {
    candidates: all.map(({ id, prob: share }) => {
      const name = before ? words.soFar(before, token(id)) : words.label(token(id));
      return [name, Number(Boolean(token(id).special)), rounded(share, 6), percent(numbers, share)];
    }),
    ids: all.map(({ id }) => id),
    chosen: all.findIndex(({ id }) => id === chosen),
    rest: rounded(left, 6),
    rest_text: percent(numbers, left),
    n_rest: nTokens - all.length,
    entropy: rounded(entropy, 4),
  };
}
