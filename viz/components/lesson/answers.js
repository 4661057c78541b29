// Answers of this tab, which a session that begins is told: after a reload, or when the server has
// started anew. They are in no link: whoever gets one has answered nothing.

import { accepts, tell } from "../kit/sync.js";

const NAME = "headscope:answers";
let told = null; // the last session that was told

// answers: all that the session knows of.
export function keepAnswers(sync, session, answers) {
  const kept = session !== told && read();
  told = session;
  if (kept) tell(sync, "answers", kept);
  if (accepts(sync, "answers", answers) && Object.keys(answers).length) write(JSON.stringify(answers));
}

// A browser may forbid pages to keep anything: then a reload begins anew.
function read() {
  try {
    return sessionStorage.getItem(NAME);
  } catch {
    return null;
  }
}

function write(kept) {
  try {
    sessionStorage.setItem(NAME, kept);
  } catch {
    // as above
  }
}
