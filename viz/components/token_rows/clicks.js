// A click that changes the model: what it gives is shown before the run of the page that it starts. It is
// asked for while somebody points at what they will click, so that it is there when they do.

import { AGAIN, ANSWERED, SOON, announcePreview, isRunning, isTyping, partsOf, post } from "./asking.js";

const TRIES = 5; // of a click, while the server draws the page of the one before
const AIMING = 60; // ms that a pointer rests on something before it is taken for an aim

// changes: what a click there would change; null: nothing is pointed at any more.
export function aimed(typing, changes) {
  typing.aim = changes;
  if (changes) askSoon(typing, changes, AIMING);
}

function askSoon(typing, changes, ms) {
  setTimeout(() => typing.aim === changes && askAhead(typing, changes), ms);
}

// The run that goes on may show other pictures, and a click goes before a guess: both are waited for.
async function askAhead(typing, changes) {
  if (!typing.address || isTyping(typing)) return;
  if (isRunning() || typing.isTrying) return askSoon(typing, changes, SOON);
  const key = JSON.stringify(changes);
  if (typing.ahead?.key === key) return;
  const ahead = { key, answer: post(`${typing.address}?ahead`, changes) };
  typing.ahead = ahead;
  const { status } = await ahead.answer;
  if (status !== AGAIN || typing.ahead !== ahead) return;
  typing.ahead = null;
  askSoon(typing, changes, SOON);
}

// The run that follows takes over what is made here.
export async function tried(typing, event) {
  typing.aim = null;
  if (!typing.address || isTyping(typing)) return; // it is told at once
  event.preventDefault();
  const { changes, tellThem, isDue } = event.detail;
  const number = ++typing.asked;
  typing.isTrying = true;
  const ahead = typing.ahead?.key === JSON.stringify(changes) ? await typing.ahead.answer : null;
  let { status, bytes } = ahead?.status === ANSWERED ? ahead : await post(typing.address, changes);
  for (let i = 0; i < TRIES && status === AGAIN && number === typing.asked; i++) {
    await new Promise((wake) => setTimeout(wake, SOON));
    ({ status, bytes } = await post(typing.address, changes));
  }
  if (number === typing.asked) typing.isTrying = false;
  if (status === ANSWERED && number === typing.asked && isDue()) {
    Object.assign(typing, { answered: number, wanted: null, isEntered: true });
    announcePreview(typing, partsOf(bytes));
  }
  tellThem();
}
