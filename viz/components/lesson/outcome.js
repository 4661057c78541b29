// Where the form of a task gives way to its outcome, the focus would be lost with the button that was
// pressed: it goes on to what is said of the answer, and Tab leads on from there. What is said while
// the form stays is read out. The mouse that pressed the button points at nothing of what comes there.

import { restPointer } from "../kit/resting.js";

const TASK = '[class*="st-key-task"]';
const SUBMIT = `${TASK} [data-testid="stFormSubmitButton"]`;
const OUTCOME = '[class*="st-key-over"] [data-testid="stAlert"]';
// What is marked as an alert is read out anyway.
const REMARK = '[data-testid="stForm"] [role="status"] [data-testid="stMarkdownContainer"]';

// announcer: the element whose text is read out. Returns what ends it.
export function watchTasks(announcer) {
  let seen = null; // what had the focus last, within this task
  let task = null;
  const follow = () => {
    const remark = task.querySelector(REMARK)?.textContent ?? "";
    if (announcer.textContent !== remark) announcer.textContent = remark;
    const outcome = !seen?.isConnected && isNowhere() && task.querySelector(OUTCOME);
    if (!outcome) return;
    outcome.tabIndex = -1;
    outcome.focus({ preventScroll: true });
  };
  const observer = new MutationObserver(follow);
  const enter = ({ target }) => {
    task = target?.closest?.(TASK);
    seen = target;
    observer.disconnect();
    if (task) observer.observe(task, { childList: true, characterData: true, subtree: true });
  };
  const rest = ({ target }) => target.closest?.(SUBMIT) && restPointer();
  window.addEventListener("focusin", enter);
  window.addEventListener("click", rest, true);
  enter({ target: document.activeElement }); // who answers before this is here is in a task by now
  if (task) follow();
  return () => {
    observer.disconnect();
    window.removeEventListener("focusin", enter);
    window.removeEventListener("click", rest, true);
  };
}

function isNowhere() {
  return !document.activeElement || document.activeElement === document.body;
}
