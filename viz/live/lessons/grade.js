// The rules by which an answer is graded: viz/lessons/task.py and viz/lessons/answers.py have the
// same. What is right and what is said is in the sheet of the task (viz/lessons/sheet.py), and the
// words of the rules are Python's, too: `grading_words` of that file.

import { filled, fixed } from "../payloads/numbers.js";

const PLAIN = /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,2})?$/;
const PARTED = /^-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$/;
const RATIO = /^(-?\d{1,12})\/(\d{1,12})$/;
const ENOUGH = 12; // digits of a number that is said again
const MOST = 2; // answers to a task
const NEW = { answer: null, n: 0, hint: "", hasReason: false, isRight: false, isWrong: false, isOver: false };

// A task that nobody has answered.
export const untouched = () => ({ ...NEW });

// Text in base64 -> the value that Python sealed.
export function unsealed(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

// "0.5", "0,5", "½", "1/2", "5e-1", "−0.5" or "1,234" -> a number; null: nothing stands there.
// Throws an Error of one sentence.
export function readNumber(words, text, unit) {
  const digits = text.replace(/\s+/g, "").slice(0, words.longest + 1).replaceAll("−", "-");
  const end = unit.replace(/\s+/g, "");
  let plain = (end && digits.endsWith(end) ? digits.slice(0, -end.length) : digits).toLowerCase();
  if (!plain) return null;
  if (plain in words.fractions) return words.fractions[plain];
  if (PARTED.test(plain)) plain = plain.replaceAll(",", "");
  else if (plain.split(",").length === 2 && !plain.includes(".")) plain = plain.replace(",", ".");
  if (PLAIN.test(plain) && plain.length <= words.longest) return Number(plain);
  const ratio = RATIO.exec(plain);
  if (ratio && Number(ratio[2])) return Number(ratio[1]) / Number(ratio[2]);
  throw new Error(filled(words.noNumber, { text: text.trim().slice(0, words.longest) }));
}

// The attempt after another answer. sheet: of the task, with what was sealed. null is no answer and
// costs nothing, nor does the same one again. Only a first answer that is wrong gets a hint.
export function answered(words, before, answer, sheet) {
  if (answer === null) return { ...before, hint: words.noAnswer, isWrong: false };
  const isSame = before.n > 0 && JSON.stringify(answer) === JSON.stringify(before.answer);
  const n = before.n + Number(!isSame);
  const right = isRight(words, sheet, answer);
  const after = { ...NEW, answer, n, isRight: right, isWrong: !right };
  if (right || n >= MOST) return { ...after, isOver: true };
  const reason = reasonFor(sheet, answer);
  const parts = [reason || distanceOf(words, sheet, answer), hintFor(words, sheet, answer)];
  return { ...after, hint: parts.filter(Boolean).join(" "), hasReason: Boolean(reason) };
}

// The attempt after the truth was asked for.
export function revealed(before) {
  return { ...before, hint: "", isRight: false, isWrong: false, isOver: true };
}

// What a browser keeps of an attempt: what was given, and never whether it is right.
export const entryOf = ({ n, answer, isOver }) => [n, answer, isOver];

// The attempt of such an entry, graded anew; as if never answered, where it cannot be one.
export function attemptOf(words, entry, sheet) {
  const [n, answer, isOver] = Array.isArray(entry) ? entry : [];
  const isNone = n === 0 && answer === null;
  if (!isNone && !((n === 1 || n === MOST) && fits(sheet, answer))) return { ...NEW };
  const attempt = isNone ? { ...NEW } : answered(words, { ...NEW, n: n - 1 }, answer, sheet);
  return isOver && !attempt.isOver ? revealed(attempt) : attempt;
}

function fits({ form, options }, answer) {
  if (Array.isArray(answer)) {
    const areAll = form === "spread" && answer.length === options.length;
    return areAll && answer.every((each) => each >= 0 && each <= 100) && sum(answer) > 0;
  }
  if (form === "number" || form === "spread") return form === "number" && Number.isFinite(answer);
  return Number.isInteger(answer) && answer >= 0 && answer < options.length;
}

// Spread points have no wrong: they are right where they beat an even guess.
export function isRight(words, { form, truth, tolerance, right, unit }, answer) {
  if (form === "spread") return costOf(words, truth, answer) < costOf(words, truth, null);
  return form === "number" ? isNear(answer, truth, tolerance, unit) : right.includes(answer);
}

// A share of 0.25 is 25 %, too, where per cent are asked.
function meant(number, unit) {
  return unit === "%" && number > 0 && number < 1 ? [number, 100 * number] : [number];
}

function isNear(answer, truth, tolerance, unit) {
  return meant(answer, unit).some((each) => Math.abs(each - truth) <= tolerance);
}

function reasonFor({ form, reasons, unit }, answer) {
  const isIt = (each) =>
    form === "number" ? isNear(answer, each.answer, each.tolerance, unit) : answer === each.answer;
  return reasons.find(isIt)?.says ?? "";
}

// On which side of the right number it is, and roughly how far.
function distanceOf({ distances }, { form, truth, tolerance, unit }, answer) {
  if (form !== "number") return "";
  const number = meant(answer, unit).at(-1);
  if (truth && Math.abs(number + truth) <= tolerance) return distances.sign;
  const side = distances[number > truth ? "large" : "small"];
  const [low, high] = number < truth ? [number, truth] : [truth, number];
  const far = low <= 0 ? "" : farness(low, high);
  return filled(side, { far: distances[far] ?? "" });
}

function farness(low, high) {
  if (high > 10 * low) return "tenfold";
  if (high > 2 * low) return "twice";
  return high < 1.1 * low ? "tenth" : "";
}

function hintFor(words, { form, hints, options, gets, truth }, answer) {
  if (form === "number") return hints[0];
  if (form !== "spread") return hints[answer];
  const most = answer.indexOf(Math.max(...answer));
  return filled(hints[0], {
    word: options[most],
    got: gets[most],
    own: fixed(costOf(words, truth, answer), 2),
    even: fixed(costOf(words, truth, null), 2),
  });
}

// The end of a sentence that says a wrong answer; of spread points, which a table shows, nothing.
export function repeated({ repeated: ofWord, repeatedBare }, { form, options }, answer) {
  if (answer === null || form === "spread") return "";
  const text = form === "number" ? digitsOf(answer) : options[answer];
  return filled(form === "word" ? ofWord : repeatedBare, { answer: text });
}

// As Python's "g": a power of ten where a number is very large, or very small.
function digitsOf(number) {
  const [, exponent] = number.toExponential(ENOUGH - 1).split("e");
  const isPlain = number === 0 || (exponent >= -4 && exponent < ENOUGH);
  const short = (text) => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);
  if (isPlain) return short(number.toPrecision(ENOUGH)).replace("-", "−");
  const [mantissa, power] = number.toExponential(ENOUGH - 1).split("e");
  const size = String(Math.abs(power)).padStart(2, "0");
  return `${short(mantissa)}e${power < 0 ? "-" : "+"}${size}`.replaceAll("-", "−");
}

const sum = (values) => values.reduce((all, each) => all + each, 0);

// Points as shares that add up to 1, none of them 0; null: an even guess.
export function shares({ floor }, points, n) {
  const total = points ? sum(points) : 0;
  if (total <= 0) return Array.from({ length: n }, () => 1 / n);
  return points.map((each) => ((1 - floor) * each) / total + floor / n);
}

// The log loss of points for the weights, in nats; null: of an even guess.
export function costOf(words, weights, points) {
  const guess = shares(words, points, weights.length);
  return weights.reduce((all, a, i) => (a > 0 ? all - a * Math.log(guess[i]) : all), 0);
}

// A weight as people say it: "71 %".
export function percentOf({ shares: [under, over] }, weight) {
  const share = 100 * weight;
  if ((share > 0 && share < 0.05) || (share >= 99.95 && share < 100)) return share < 1 ? under : over;
  const isNearEnd = (share > 0 && share < 0.5) || (share >= 99.5 && share < 100);
  return `${fixed(share, isNearEnd ? 1 : 0)} %`;
}
