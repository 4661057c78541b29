// 100 points on the words of a row, and what they cost.

export const ALL = 100;
export const FLOOR = 0.01; // the share that all words have in common: no guess is infinitely wrong

// All of them on one word.
export function onOne(n, i) {
  return Array.from({ length: n }, (_, j) => (j === i ? ALL : 0));
}

// Word i has so many; the others give way, in proportion, where there would be too many.
export function withPoints(points, i, value) {
  const others = points.reduce((sum, each, j) => (j === i ? sum : sum + each), 0);
  const most = ALL - value;
  const part = others > most ? most / others : 1;
  return points.map((each, j) => (j === i ? value : each * part));
}

// Points as whole numbers of the same sum, as near as can be: no rounding makes them more than there are.
export function whole(points) {
  const down = points.map(Math.floor);
  const left = Math.round(sumOf(points)) - sumOf(down);
  const nearest = points.map((_, i) => i).sort((a, b) => points[b] - down[b] - (points[a] - down[a]) || a - b);
  for (const i of nearest.slice(0, left)) down[i] += 1;
  return down;
}

export function sumOf(points) {
  return points.reduce((a, b) => a + b, 0);
}

// -sum_j A_j ln p_j in nats, of the weights A of a row and the shares p of the points; null: no points.
export function cost(weights, points) {
  const total = sumOf(points);
  if (!total) return null;
  const n = weights.length;
  const shares = points.map((each) => ((1 - FLOOR) * each) / total + FLOOR / n);
  return costOfLogs(weights, shares.map(Math.log));
}

// The same of ln p; of the mean of several people's, the mean of what they pay.
export function costOfLogs(weights, logs) {
  return -weights.reduce((sum, weight, j) => (weight > 0 ? sum + weight * logs[j] : sum), 0);
}
