// What kernel.wat does, in JavaScript: for browsers without SIMD, and for heads that are changed.

// The functions of the kernel over the same memory. floats, places: all of it, as f32 and as i32.
export function plainKernel(floats, places) {
  const numbers = Float32Array.from({ length: 65536 }, (_, bits) => half(bits));
  return {
    // Its weights are floats: see weights.js.
    linear: (x, w, b, y, rows, n, m, _, least) =>
      linear(floats, x / 4, w / 4, b / 4, y / 4, { rows, n, m, least }),
    attend: (q, k, v, at, n, heads, size, scale, y, weights, step) => {
      for (let head = 0; head < heads; head++) {
        const by = head * size;
        const row = { q: q + by, k: k + by, v: v + by, y: y + by, at, n, size, scale };
        attendHead(floats, places, { ...row, weights: weights + head * step });
      }
    },
    largest: (x, n) => {
      let top = -Infinity;
      for (let i = x / 4; i < x / 4 + n; i++) if (floats[i] > top) top = floats[i];
      return top;
    },
    sum_exp: (x, n, top) => {
      let sum = 0;
      for (let i = x / 4; i < x / 4 + n; i++) sum += Math.exp(floats[i] - top);
      return sum;
    },
    lower: (x, n, by) => {
      for (let i = x / 4; i < x / 4 + n; i++) floats[i] -= by;
    },
    widen: (from, to, n) => {
      const halves = new Uint16Array(floats.buffer, from, n);
      for (let i = 0; i < n; i++) floats[to / 4 + i] = numbers[halves[i]];
    },
  };
}

function half(bits) {
  const [exponent, mantissa] = [(bits >> 10) & 31, bits & 1023];
  const size = exponent ? 2 ** (exponent - 15) * (1 + mantissa / 1024) : 2 ** -24 * mantissa;
  return bits & 0x8000 ? -size : size;
}

// Four sums at once: the processor need not wait for one to add the next.
function linear(floats, x, w, b, y, { rows, n, m, least }) {
  for (let o = 0; o < m; o++) {
    const line = w + o * n;
    for (let r = 0; r < rows; r++) {
      const row = x + r * n;
      let [s, t, u, v] = [0, 0, 0, 0];
      for (let i = 0; i < n; i += 4) {
        s += floats[row + i] * floats[line + i];
        t += floats[row + i + 1] * floats[line + i + 1];
        u += floats[row + i + 2] * floats[line + i + 2];
        v += floats[row + i + 3] * floats[line + i + 3];
      }
      floats[y + r * m + o] = Math.max(s + t + u + v + floats[b + o], least);
    }
  }
}

// x becomes x Φ(x), the GELU, from a place on (Hendrycks and Gimpel 2016).
export function gelu(floats, from, n) {
  for (let i = from; i < from + n; i++) floats[i] *= (1 + erf(floats[i] * Math.SQRT1_2)) / 2;
}

// erf(x) = 2/√π e^(-x²) Σ 2^k x^(2k+1) / (2k+1)!!; from 4 on it is 1 to eight digits.
function erf(x) {
  if (Math.abs(x) >= 4) return Math.sign(x);
  let [term, sum] = [x, x];
  for (let k = 3; Math.abs(term) > 1e-9 * Math.abs(sum); k += 2) sum += term *= (2 * x * x) / k;
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

// One row of one head: its query, keys, values and result, and where its weights are put; see
// `attend` of the kernel. alter: changes its scores [n] in place, before the softmax.
export function attendHead(floats, places, row, alter = () => {}) {
  const { n, scale } = row;
  const [q, size, weights, y] = [row.q / 4, row.size / 4, row.weights / 4, row.y / 4];
  const scores = new Float64Array(n);
  for (let j = 0; j < n; j++) {
    const k = (row.k + places[row.at / 4 + j]) / 4;
    for (let i = 0; i < size; i++) scores[j] += floats[q + i] * floats[k + i];
    scores[j] *= scale;
  }
  alter(scores);
  const top = Math.max(...scores);
  let sum = 0;
  for (let j = 0; j < n; j++) sum += scores[j] = Math.exp(scores[j] - top);
  floats.fill(0, y, y + size);
  for (let j = 0; j < n; j++) {
    const weight = (floats[weights + j] = scores[j] / sum);
    const v = (row.v + places[row.at / 4 + j]) / 4;
    for (let i = 0; weight && i < size; i++) floats[y + i] += weight * floats[v + i];
  }
}
