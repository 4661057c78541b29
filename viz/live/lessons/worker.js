// The worker of a lesson: it opens a checkpoint, and makes the sheets of tasks about a text.

import { serveWith } from "../page/worker.js";

export default function serve(self) {
  serveWith(self, {});
}
