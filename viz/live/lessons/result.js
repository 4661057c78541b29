// The result of a lesson as a file that a learner hands in: `python -m viz results` reads many.

import { unsealed } from "./grade.js";
import { rightOf } from "./measure.js";

const LONGEST = 60; // characters of a file's name

// parts(): the scenes with their tasks as they are.
export function offerResult(content, kept, parts) {
  const form = document.querySelector("#result form");
  const field = document.getElementById("name");
  field.value = kept.of().name ?? "";
  field.onchange = () => kept.note({ name: field.value });
  form.onsubmit = (event) => {
    event.preventDefault();
    kept.note({ name: field.value });
    const text = JSON.stringify(resultOf(content, kept.of(), parts()), null, 2);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([`${text}\n`], { type: "application/json" }));
    link.download = `${nameOf(content.name, field.value)}.json`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000); // phones read it later
  };
}

function nameOf(lesson, name) {
  const plain = name.trim().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  return [lesson, plain].filter(Boolean).join("-").slice(0, LONGEST);
}

export function resultOf(content, { name = "", before, after, seconds }, parts) {
  const { questions, words } = content;
  const sheets = questions.map((sheet) => ({ ...sheet, ...unsealed(sheet.sealed) }));
  const asked = (answers) => rightOf(words, sheets, answers);
  return {
    format: content.format,
    name,
    lesson: content.name,
    title: content.title,
    digest: content.digest,
    saved: new Date().toISOString(),
    questions: sheets.map(({ question }) => question),
    before: { answers: asked(before) && before, right: asked(before) },
    after: { answers: asked(after) && after, right: asked(after) },
    tasks: parts.flatMap(({ heading, tasks }, scene) =>
      tasks.map(({ code, question, attempt }) => ({
        scene: scene + 1,
        heading,
        question,
        answers: attempt.n,
        answer: attempt.answer,
        right: attempt.isRight,
        shown: attempt.isOver && !attempt.isRight && !attempt.isWrong,
        over: attempt.isOver,
        seconds: seconds[code] ?? null,
      })),
    ),
  };
}
