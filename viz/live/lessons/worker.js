// The worker of a lesson: it opens a checkpoint, and makes the sheets of tasks about a text.

import { serveWith } from "../page/worker.js";
import { ownTasks } from "./tasks.js";

const MOST_WRITTEN = 160; // characters of an output that are said

export default function serve(self) {
  serveWith(self, { tasks });
}

function* tasks(open, answer, of) {
  return { written: shortened(answer.text), ...(yield* ownTasks(open, answer, of)) };
}

function shortened(text) {
  const plain = text.trim().replace(/\s+/g, " ");
  if (plain.length <= MOST_WRITTEN) return plain;
  return `${plain.slice(0, MOST_WRITTEN - 1).replace(/\s\S*$/, "")} …`;
}
