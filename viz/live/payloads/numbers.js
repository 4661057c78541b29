// Numbers as people read them: viz/labels.py and viz/sentence.py write the same. What such a text
// says in words, as "below 0.001", is theirs: `words` is `numbers` of viz/live/tables.py.

const LARGE = 1e6; // as LARGE of viz/sentence.py
const LEAST_SHARE = 1e-6;
const LEAST_AMOUNT = 0.0005;

// As Python rounds: what lies in the middle of two goes to the even digit, where toFixed goes up.
export function fixed(value, digits) {
  const text = value.toFixed(digits);
  const isShort = (value * 2 ** (digits + 1)) % 1 === 0; // else a binary number is in no middle
  const exact = isShort ? value.toFixed(digits + 1) : "";
  if (!exact.endsWith("5")) return text;
  const cut = exact.slice(0, -1).replace(/\.$/, "");
  return Number(cut.at(-1)) % 2 ? text : cut;
}

export function rounded(value, digits) {
  return Number(fixed(value, digits));
}

// With a true minus; one that rounds to 0 has no sign.
export function number(value, digits = 2) {
  const text = fixed(value, digits);
  return (Number(text) ? text : text.replace("-", "")).replace("-", "−");
}

export function grouped(n) {
  return n.toLocaleString("en-US");
}

// A share of 1 in per cent, with three digits that count where no decimals are asked for.
export function percent(words, share, decimals = null) {
  if (decimals === null && share > 0 && share < LEAST_SHARE) return words.least_share;
  const wanted = share ? Math.max(1, 2 - Math.floor(Math.log10(100 * share))) : 0;
  return `${number(100 * share, decimals ?? wanted)} %`;
}

// A cell's value in a sentence: what is not 0 is never shown as 0.
export function amount(words, value) {
  const size = Math.abs(value);
  if (!size) return "0";
  if (size < LEAST_AMOUNT) return value > 0 ? words.below : words.above;
  if (size >= LARGE) return value.toExponential(3).replace("-", "−").replace(/\+(\d)$/, "+0$1");
  return value.toFixed(3).replace("-", "−");
}

// A template of Python's str.format with plain names: {name}.
export function filled(template, values) {
  return template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}
