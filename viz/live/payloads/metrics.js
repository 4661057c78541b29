// The metrics of a head: transformer/analysis/metrics/metrics.py, whose names they have.

import { fixed } from "./numbers.js";

const LEAST = 1.1754943508222875e-38; // the smallest normal float: what divides is never 0

// Of weights [Q, K], means over the queries that may look at something.
const METRICS = {
  alignment: meanOf((weights, from, n, _, received) => {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += weights[from + k] ** 2 / Math.max(received[k], LEAST);
    return sum;
  }),
  confidence: meanOf((weights, from, n) => {
    let most = 0;
    for (let k = 0; k < n; k++) most = Math.max(most, weights[from + k]);
    return most;
  }),
  distance: meanOf((weights, from, n, query) => {
    let sum = 0;
    for (let k = 0; k < n; k++) sum += weights[from + k] * Math.abs(query - k);
    return sum;
  }),
  entropy: meanOf((weights, from, n) => {
    let bits = 0;
    for (let k = 0; k < n; k++) {
      if (weights[from + k]) bits -= weights[from + k] * Math.log2(weights[from + k]);
    }
    return Math.abs(bits);
  }),
  first: meanOf((weights, from) => weights[from]),
  next: meanAt(1),
  previous: meanAt(-1),
  same: meanAt(0),
};

// name: of one that viz/live/tables.py names. NaN where no query counts.
export function metric(name, weights, [nQueries, nKeys]) {
  if (!METRICS[name]) throw new Error(`The metric “${name}” is not computed in the browser.`);
  return METRICS[name](weights, nQueries, nKeys);
}

// A value with its unit, as people read it. words: as in numbers.js.
export function metricText(words, { unit }, value) {
  if (Number.isNaN(value)) return words.undefined;
  return unit === "share" ? `${fixed(100 * value, 0)} %` : `${fixed(value, 2)} ${unit}`;
}

function meanOf(measure, hasKey = () => true) {
  return (weights, nQueries, nKeys) => {
    const received = new Float64Array(nKeys);
    for (let i = 0; i < weights.length; i++) received[i % nKeys] += weights[i];
    let [sum, n] = [0, 0];
    for (let query = 0; query < nQueries; query++) {
      const from = query * nKeys;
      if (!hasKey(query, nKeys) || !attends(weights, from, nKeys)) continue;
      sum += measure(weights, from, nKeys, query, received);
      n++;
    }
    return n ? sum / n : Number.NaN;
  };
}

// The mean weight on the key so many positions after the query's own, over queries that have one.
function meanAt(offset) {
  const hasKey = (query, nKeys) => query + offset >= 0 && query + offset < nKeys;
  return meanOf((weights, from, _, query) => weights[from + query + offset], hasKey);
}

function attends(weights, from, n) {
  for (let k = 0; k < n; k++) if (weights[from + k] > 0) return true;
  return false;
}
