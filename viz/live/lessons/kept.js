// What a browser keeps of lessons: answers by the codes that the app has, too (viz/lessons/answers.py),
// and of each lesson what its result file says. Nothing of it leaves the browser by itself.

const NAME = "headscope:lessons";
const MOST = 500; // answers; the oldest leave first
const EMPTY = { entries: {}, lessons: {} };
const OF_LESSON = { before: null, after: null, seconds: {}, own: {} };

// Whether the lesson of this code is done: for a list of lessons.
export const isFinished = (code) => code in read().entries;

// The store of one lesson. Where a browser keeps nothing, it is as long as the page is open.
export function createKept(lesson) {
  let all = read();
  const change = (make) => {
    all = isKept() ? read() : all; // another page may have written since
    make(all);
    const entries = Object.entries(all.entries);
    all.entries = Object.fromEntries(entries.slice(-MOST));
    write(all);
  };
  return {
    isKept: isKept(),
    entry: (code) => all.entries[code],
    of: () => ({ ...OF_LESSON, ...all.lessons[lesson] }),
    // entry: see `entryOf` of grade.js.
    keep: (code, entry) => change(({ entries }) => (entries[code] = entry)),
    // changes: of before, after, seconds, own or name.
    note: (changes) => change(({ lessons }) => (lessons[lesson] = { ...lessons[lesson], ...changes })),
    forget: (codes) => change(({ entries, lessons }) => {
      for (const code of codes) delete entries[code];
      delete lessons[lesson];
    }),
  };
}

function isKept() {
  try {
    localStorage.setItem(`${NAME}?`, "");
    localStorage.removeItem(`${NAME}?`);
    return true;
  } catch {
    return false; // a browser may forbid pages to keep anything
  }
}

function read() {
  try {
    const kept = JSON.parse(localStorage.getItem(NAME));
    const isOurs = kept && typeof kept.entries === "object" && typeof kept.lessons === "object";
    return isOurs ? { ...EMPTY, ...kept } : structuredClone(EMPTY);
  } catch {
    return structuredClone(EMPTY);
  }
}

function write(all) {
  try {
    localStorage.setItem(NAME, JSON.stringify(all));
  } catch {
    // It is full, or forbidden: then a reload begins anew.
  }
}
