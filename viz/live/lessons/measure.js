// Three questions before and after a lesson, the same for everybody: nothing is said of an answer
// until they were answered the second time.

import { element } from "../../components/kit/page.js";
import { filled } from "../payloads/numbers.js";
import { isRight, unsealed } from "./grade.js";
import { createForm } from "./task.js";

// begun(): the questions before are over, or skipped.
export function createMeasure({ questions, words }, kept, begun) {
  const sheets = questions.map((sheet) => ({ ...sheet, ...unsealed(sheet.sealed) }));
  const [before, after] = ["before", "after"].map((id) => document.getElementById(id));
  const own = { asks: "", at: 0, answers: [] };
  const isAnswered = (answers) => Array.isArray(answers) && answers.length === sheets.length;

  function ask(when) {
    Object.assign(own, { asks: when, at: 0, answers: [] });
    show();
    (when === "before" ? before : after).querySelector("input, select")?.focus();
  }

  function take({ answer, fault }, form) {
    if (fault || answer === null) {
      form.remark.hidden = false;
      form.remark.textContent = fault ?? words.grading.noAnswer;
      return;
    }
    own.answers.push(answer);
    own.at++;
    if (own.at === sheets.length) {
      kept.note({ [own.asks]: own.answers });
      own.asks = "";
      begun();
      return;
    }
    show();
    (own.asks === "before" ? before : after).querySelector("input, select")?.focus();
  }

  function show() {
    const host = own.asks === "before" ? before : after;
    const sheet = sheets[own.at];
    const node = element("section", "measure");
    const title = filled(words.question_of, { n: own.at + 1, all: sheets.length });
    node.append(element("h2", "", own.asks === "before" ? words.before : words.after));
    node.append(element("p", "dim", title), element("p", "sentence", sheet.sentence));
    if (sheet.about) node.append(element("p", "dim", sheet.about));
    const form = createForm(sheet, words, (heard) => take(heard, form), [words.next_question, ""]);
    node.append(form.node);
    host.replaceChildren(node);
  }

  function offer(when) {
    const node = element("section", "measure");
    node.append(element("p", "", when === "before" ? words.offer_before : words.offer_after));
    const line = element("div", "line");
    const go = Object.assign(element("button", "", words.ask_me), { type: "button" });
    go.onclick = () => ask(when);
    line.append(go);
    if (when === "before") {
      const not = Object.assign(element("button", "plain", words.skip), { type: "button" });
      not.onclick = () => {
        skip();
        begun();
      };
      line.append(not);
    }
    node.append(line);
    return node;
  }

  // Whoever has begun the lesson is not asked any more what was to be asked before it.
  function skip() {
    if (kept.of().before === null && sheets.length && own.asks !== "before") kept.note({ before: [] });
  }

  function draw(isDone) {
    const { before: first, after: second } = kept.of();
    if (!sheets.length || own.asks) return;
    if (first === null) before.replaceChildren(offer("before"));
    else before.replaceChildren();
    const isCompared = isAnswered(first) && isAnswered(second);
    if (isCompared) after.replaceChildren(comparison(first, second));
    else if (isDone && isAnswered(first)) after.replaceChildren(offer("after"));
    else after.replaceChildren();
  }

  function comparison(...both) {
    const node = element("section", "measure");
    const counts = both.map((answers) => rightOf(words, sheets, answers).filter(Boolean).length);
    const values = { before: counts[0], after: counts[1], all: sheets.length };
    node.append(element("h2", "", words.compared), element("p", "", filled(words.counted, values)));
    sheets.forEach((sheet, i) => {
      const marks = both.map((answers) => rightOf(words, sheets, answers)[i]);
      const [was, is] = marks.map((mark) => (mark ? words.was_right : words.was_wrong));
      const said = filled(words.each_compared, { before: was, after: is });
      if (sheet.sentence !== sheets[i - 1]?.sentence) node.append(element("p", "sentence", sheet.sentence));
      node.append(element("p", "question", sheet.question));
      node.append(element("p", "", `${said} ${sheet.explanation}`));
    });
    return node;
  }

  return { draw, skip };
}

// Whether each answer is right; null: they were not given.
export function rightOf({ grading }, sheets, answers) {
  if (!Array.isArray(answers) || answers.length !== sheets.length) return null;
  return sheets.map((sheet, i) => isRight(grading, sheet, answers[i]));
}
