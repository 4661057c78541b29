// One task on the page: the question and its form; afterwards the truth and its number. The app's
// viz/pages/lessons/asking.py draws the same.

import { element } from "../../components/kit/page.js";
import { filled, fixed } from "../payloads/numbers.js";
import { costOf, percentOf, readNumber, repeated, shares } from "./grade.js";

const MOST_BUTTONS = 40; // words of a longer row are a list that opens
const MOST_POINTS = 100;
const STEP = 5;
let last = 0; // names of fields

// sheet: of the task, unsealed. hear({ answer }) or hear({ fault }) or hear({ isShown: true }): what
// was pressed. Returns the node, and draw(attempt).
export function createTask(sheet, words, hear) {
  const node = element("div", "task");
  let form = null;
  function draw(attempt) {
    if (attempt.isOver) {
      const hadFocus = node.contains(document.activeElement);
      form = null;
      const outcome = outcomeOf(sheet, words, attempt);
      node.replaceChildren(element("p", "question", sheet.question), ...shownAfter(sheet, words, attempt), outcome);
      if (hadFocus) outcome.focus({ preventScroll: true });
      return;
    }
    if (!form) {
      form = createForm(sheet, words, hear, [words.check, words.show_me]);
      node.replaceChildren(form.node);
    }
    nudge(form.remark, words, attempt);
  }
  return { node, draw };
}

// The form of a task: { node, remark, read }. buttons: to answer, and to be shown the truth, if any.
export function createForm(sheet, words, hear, [answer, show]) {
  const node = element("form", "ask");
  node.noValidate = true;
  if (sheet.form !== "spread" && sheet.material.length) node.append(materialOf(sheet));
  const fields = FIELDS[sheet.form](sheet, words);
  node.append(fields.node);
  const remark = element("p", "remark");
  remark.role = "alert";
  remark.hidden = true;
  const line = element("div", "line");
  line.append(element("button", "", answer));
  if (show) {
    const button = Object.assign(element("button", "plain", show), { type: "button" });
    button.onclick = () => hear({ isShown: true });
    line.append(button);
  }
  node.append(remark, line);
  node.onsubmit = (event) => {
    event.preventDefault();
    try {
      hear({ answer: fields.read() });
    } catch ({ message }) {
      hear({ fault: message });
    }
  };
  return { node, remark };
}

function nudge(remark, words, { hint, isWrong, hasReason }) {
  remark.hidden = !hint;
  const first = !isWrong ? "" : hasReason ? words.not_quite : words.not_yet;
  remark.replaceChildren(...(first ? [element("b", "", first), " "] : []), hint);
}

function materialOf({ material }) {
  const table = element("table", "numbers");
  for (const [name, value] of material) {
    const row = table.insertRow();
    row.append(Object.assign(element("th", "", name), { scope: "row" }), element("td", "", value));
  }
  return table;
}

// Form -> its fields: { node, read }; read() gives the answer, null where there is none, and throws
// an Error of one sentence.
const FIELDS = {
  word: (sheet) => (sheet.options.length > MOST_BUTTONS ? listOf(sheet) : radios(sheet, "words")),
  choice: (sheet) => radios(sheet, "choices"),
  number({ question, unit }, words) {
    const [node, input] = [element("label", "number"), element("input")];
    Object.assign(input, { autocomplete: "off", maxLength: words.grading.longest, enterKeyHint: "done" });
    const text = unit ? `${question} (${unit})` : question;
    node.append(element("span", "question", text), input);
    return { node, read: () => readNumber(words.grading, input.value, unit) };
  },
  spread({ question, options }) {
    const node = groupOf(question);
    const list = element("div", "points");
    const inputs = options.map((option) => {
      const [label, input] = [element("label", "", option), element("input")];
      Object.assign(input, { type: "number", min: 0, max: MOST_POINTS, step: STEP, placeholder: "0" });
      label.append(input);
      list.append(label);
      return input;
    });
    node.append(list);
    const read = () => {
      const points = inputs.map(({ value }) => Math.min(MOST_POINTS, Math.max(0, Number(value) || 0)));
      return points.some(Boolean) ? points : null;
    };
    return { node, read };
  },
};

function groupOf(question) {
  const node = element("fieldset");
  node.append(element("legend", "question", question));
  return node;
}

function radios({ question, options }, className) {
  const [node, list, name] = [groupOf(question), element("div", className), `task-${++last}`];
  const inputs = options.map((option) => {
    const [label, input] = [element("label"), element("input")];
    Object.assign(input, { type: "radio", name });
    label.append(input, element("span", "", option));
    label.dir = "auto";
    list.append(label);
    return input;
  });
  node.append(list);
  const read = () => {
    const at = inputs.findIndex(({ checked }) => checked);
    return at < 0 ? null : at;
  };
  return { node, read };
}

function listOf({ question, options }) {
  const [node, select] = [element("label", "number"), element("select")];
  select.append(new Option("", ""), ...options.map((option, i) => new Option(option, i)));
  node.append(element("span", "question", question), select);
  return { node, read: () => (select.value ? Number(select.value) : null) };
}

function shownAfter(sheet, words, { answer }) {
  if (sheet.form === "spread") return [guessesOf(sheet, words, answer)];
  return sheet.material.length ? [materialOf(sheet)] : [];
}

function outcomeOf(sheet, words, { answer, isRight, isWrong }) {
  const node = element("p", "outcome");
  node.tabIndex = -1;
  node.dataset.is = isRight ? "right" : isWrong ? "wrong" : "shown";
  const said = repeated(words.grading, sheet, answer);
  const first = isRight ? words.right : isWrong ? filled(words.not_right, { answer: said }) : "";
  node.append(...(first ? [element("b", "", first), " "] : []), sheet.explanation);
  return node;
}

// A row per word: the guess above the weight, as bars and as numbers; and what both cost.
function guessesOf({ options, truth }, { grading, guess }, points) {
  const mine = shares(grading, points, options.length);
  const table = element("table", "guess");
  const head = table.createTHead().insertRow();
  const guessed = points ? guess.you : guess.even;
  for (const title of [guess.word, guessed, guess.head, filled(guess.bars, { guessed })]) {
    head.append(Object.assign(element("th", "", title), { scope: "col" }));
  }
  const body = table.createTBody();
  options.forEach((option, i) => {
    const row = body.insertRow();
    row.append(Object.assign(element("th", "", option), { scope: "row" }));
    row.append(element("td", "", percentOf(grading, mine[i])), element("td", "", percentOf(grading, truth[i])));
    const bars = element("td", "bars");
    for (const share of [mine[i], truth[i]]) {
      bars.append(Object.assign(element("span"), { style: `width: ${100 * share}%` }));
    }
    row.append(bars);
  });
  if (points) {
    const costs = [points, null].map((each) => fixed(costOf(grading, truth, each), 2));
    table.createCaption().textContent = filled(guess.foot, { own: costs[0], even: costs[1] });
  }
  return table;
}
