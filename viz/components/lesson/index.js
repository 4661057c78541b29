// Beside the scenes of a lesson; nothing of it is seen. The answers outlive a reload, and whoever works by
// keys stays where the work is.

import { mounted } from "../kit/mounted.js";
import { element } from "../kit/page.js";
import { keepAnswers } from "./answers.js";
import { watchTasks } from "./outcome.js";

// Not a picture: nobody copies it as a figure.
export default mounted("lesson", create, update);

function create(root, sync) {
  const announcer = element("p", "hidden-text");
  announcer.role = "status";
  root.append(announcer);
  return { sync, dispose: watchTasks(announcer) };
}

function update({ sync }, { session, answers }) {
  keepAnswers(sync, session, answers);
}
