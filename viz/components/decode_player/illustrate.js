// The small pictures of a player's cards: the row that the sentence is about, the candidates of a step.

import { bars } from "../kit/illustrations.js";
import { amount } from "../kit/sentence.js";

export function illustrate(player, what, name) {
  if (what === "row") return row(player.sentence.cell);
  if (what !== "candidates") return null;
  const { header, playback: { step } } = player;
  return (name === "step_entropy" ? surprise : candidates)(header.steps[step], step);
}

function row(cell) {
  if (!cell) return null;
  const { row: piece, at: [, chosen], keys, weights, layer, head } = cell;
  const items = keys.map((key, i) => ({ piece: key, value: weights[i], isMarked: i === chosen }));
  const who = head === null ? `the heads of layer ${layer}` : `head ${head} of layer ${layer}`;
  return bars(piece, `in ${who}`, items, (n, others) => {
    return `${n} others: ${amount(others.reduce((sum, { value }) => sum + value, 0))}`;
  });
}

function candidates({ candidates: all, chosen }, step) {
  const items = all.map(([label, special, value, text], i) => {
    return { piece: [label, special], value, text, isMarked: i === chosen };
  });
  return bars(null, `Step ${step + 1}`, items);
}

// What each candidate adds to the entropy.
function surprise({ candidates: all, chosen, entropy, n_rest: nRest }, step) {
  const items = all.map(([label, special, prob], i) => {
    const value = prob > 0 ? -prob * Math.log2(prob) : 0;
    return { piece: [label, special], value, text: value.toFixed(2), isMarked: i === chosen };
  });
  return bars(null, `Step ${step + 1}: −p log₂ p, together ${entropy.toFixed(2)} bits`, items, (n, others) => {
    const kept = items.filter((each) => !others.includes(each)).reduce((sum, { value }) => sum + value, 0);
    return `${(n + nRest).toLocaleString("en")} others: ${Math.max(0, entropy - kept).toFixed(2)}`;
  });
}
