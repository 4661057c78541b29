// What decode_player is given, as viz/components/decode_player/decode_player.py packs it.

import { meanOfHeads, mergeColumns } from "./maps.js";
import { percent, rounded } from "./numbers.js";
import { digest, pack } from "./pack.js";
import { single } from "./words.js";

// answer: of viz/live/engine/answer.js. head: null for the mean of a layer's heads. What goes on with
// a prompt reads one text, and has no cross-attention.
export function decodePlayer(site, answer, { layer, head = null, asWords }) {
  const { words } = site;
  const { target, read, token, steps } = answer;
  const isOneText = !site.kinds.cross;
  const [source, prompt] = isOneText ? [[], answer.source] : [answer.source, []];
  const groups = asWords ? (tokens) => words.groups(tokens) : single;
  const [ofSource, ofRead] = [groups(source), groups(read)];
  const before = [...prompt, ...target];
  const played = steps.map((step, i) => {
    return stepOf(site, answer, step, asWords ? before.slice(0, prompt.length + i) : null);
  });
  const isInPieces = ({ candidates }) => candidates.some(({ id }) => words.isPart(token(id)));
  const numbers = played.map(({ ids, candidates: all }) => [ids, all.map((each) => each.slice(2))]);
  const written = words.piecesOfWords(before, asWords);
  const header = {
    decoding: digest(JSON.stringify([[...answer.source, ...target].map(({ id }) => id), numbers])),
    coverage: !isOneText,
    layer: site.layers.decoder_self[layer],
    head,
    sentences: site.decode_player[head === null ? "mean" : "head"],
    before: Math.max(1, prompt.length),
    columns: { source: ofSource, read: ofRead },
    source: names(words, source, ofSource, asWords),
    prompt: written.slice(0, prompt.length),
    target: written.slice(prompt.length),
    read: names(words, read, ofRead, asWords),
    ids: target.map(({ id }) => id),
    steps: played,
    in_pieces: asWords && steps.some(isInPieces),
    word_of: asWords ? words.groups(target).flatMap((group, i) => group.map(() => i)) : [],
  };
  const own = rowsOf(answer.weights("decoder_self", layer), read.length ** 2, head);
  const last = own.subarray((read.length - target.length) * read.length); // those that wrote
  const arrays = [[last, read.length, ofRead]];
  if (!isOneText) {
    const cross = answer.weights("cross", layer);
    const area = target.length * source.length;
    const soFar = received(meanOfHeads(cross, area), source.length);
    arrays.unshift([rowsOf(cross, area, head), source.length, ofSource]);
    arrays.push([soFar, source.length, ofSource]);
  }
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
