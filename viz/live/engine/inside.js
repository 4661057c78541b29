// One layer's attention as it was computed, for a look into one of its cells.

import { lineOf, record } from "./model.js";

// The call of a layer of an answer of `open`: { q [H, Q, d_head], k, v [H, K, d_head], scale,
// output [H, d_head, D] }, output being the rows of W_O that each head meets. As Float32Arrays,
// before what is changed in heads and arrows.
export function callOf({ model }, answer, kind, layer) {
  const { config: { n_heads, d_model }, floats, rooms, d_head, scale } = model;
  // [n, H, d_head] -> [H, n, d_head]
  const split = (place, n) => {
    const parts = new Float32Array(n * d_model);
    for (let head = 0; head < n_heads; head++) {
      for (let row = 0; row < n; row++) {
        const from = place / 4 + row * d_model + head * d_head;
        parts.set(floats.subarray(from, from + d_head), (head * n + row) * d_head);
      }
    }
    return parts;
  };
  const call = { scale };
  let name = null;
  model.onCall = (place, rows, n_keys) => {
    if (place.kind !== kind || place.layer !== layer) return;
    name = place.name;
    call.q = split(rooms.queries, rows);
    [call.k, call.v] = [split(place.keys, n_keys), split(place.values, n_keys)];
  };
  try {
    record(model, answer.sourceIds, answer.targetIds, answer.changes, answer.words);
  } finally {
    model.onCall = null;
  }
  call.output = new Float32Array(d_model * d_model);
  for (let row = 0; row < d_model; row++) {
    const line = lineOf(model, `${name}.output.weight`, row);
    line.forEach((value, i) => (call.output[i * d_model + row] = value));
  }
  return call;
}
