// Grades answers in Node by viz/live/lessons/grade.js. Standard input: { grade: its file, words, cases:
// [{ sheet, replies }] }, a reply being an answer or { text } of a number. Standard output: for each
// reply { attempt, again, kept, repeated } or { fault }.

import process from "node:process";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { grade, words, cases } = JSON.parse(await text(process.stdin));
const rules = await import(pathToFileURL(grade));
const { answered, attemptOf, entryOf, readNumber, repeated, revealed, unsealed, untouched } = rules;

function outcome(sheet, given) {
  try {
    const reply = given?.text === undefined ? given : readNumber(words, given.text, sheet.unit);
    const attempt = answered(words, untouched(), reply, sheet);
    const again = answered(words, attempt, reply, sheet);
    const kept = attemptOf(words, entryOf(attempt), sheet);
    return { attempt, again, kept, told: revealed(attempt), repeated: repeated(words, sheet, reply) };
  } catch ({ message }) {
    return { fault: message };
  }
}

const results = cases.map(({ sheet, replies }) => {
  const whole = { ...sheet, ...unsealed(sheet.sealed) };
  return replies.map((each) => outcome(whole, each));
});
process.stdout.write(JSON.stringify(results));
