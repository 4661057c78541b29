// A link to another state of the same page: the part that it changes is shown before the page has run,
// as a run costs the browser more. viz/ui/ahead.py makes the part.

const PART = "[data-ahead]";
const LONGEST = 400; // ms that a link waits for its part
const LATE = 300; // ms after a run in which what it drew is surely there

// part: what is shown ahead; watched: where; held: the address of the link that had the focus.
const ahead = { asked: 0, part: null, watched: null, held: null };

// Returns whether the link is still the last that was followed. Without a part for it, this is at once.
export async function showAhead(link) {
  const number = ++ahead.asked;
  const here = document.querySelector(PART);
  if (!here || link.pathname !== location.pathname) return true;
  const text = await partOf(here.dataset.ahead + link.search);
  if (number !== ahead.asked) return false;
  if (text && here.isConnected) {
    ahead.held = link === document.activeElement ? link.getAttribute("href") : null;
    put(text, here.parentElement);
    await painted();
  }
  return number === ahead.asked;
}

// Somebody went elsewhere: what the page says last is shown.
export function forgetAhead() {
  ahead.asked++;
  drop();
}

async function partOf(address) {
  try {
    const answer = await fetch(address, { signal: AbortSignal.timeout(LONGEST) });
    return answer.status === 200 ? await answer.text() : "";
  } catch {
    return ""; // the page itself says why
  }
}

const painted = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(go))));

// Beside the part that the page drew, which React keeps: a run that draws another takes the place of both.
function put(text, parent) {
  drop();
  const part = new DOMParser().parseFromString(text, "text/html").querySelector(PART);
  parent.querySelector(PART).hidden = true;
  parent.append(part);
  stay(part);
  const watched = new MutationObserver(() => drawn(parent));
  watched.observe(parent, { childList: true });
  Object.assign(ahead, { part, watched });
  settle(part);
}

// A run has drawn the part; one that was asked for before may come late.
function drawn(parent) {
  const own = parent.querySelector(PART);
  if (!own || own === ahead.part) return;
  if (own.dataset.at === ahead.part.dataset.at) {
    stay(own);
    drop();
  } else if (!ahead.part.isConnected) {
    own.hidden = true;
    parent.append(ahead.part);
  }
}

// Who followed a link by its key is at the same one again.
function stay(part) {
  const { activeElement } = document;
  const isElsewhere = activeElement !== document.body && !activeElement.closest(PART);
  if (!ahead.held || isElsewhere) return;
  part.querySelector(`a[href="${CSS.escape(ahead.held)}"]`)?.focus({ preventScroll: true });
}

// Where no run draws it, as where the server is gone, the part of before is shown again.
async function settle(part) {
  const wait = (ms) => new Promise((go) => setTimeout(go, ms));
  const isRunning = () => !document.querySelector('[data-test-script-state="notRunning"]');
  do await wait(LATE);
  while (isRunning());
  await wait(LATE);
  if (ahead.part === part) drop();
}

function drop() {
  const { part, watched } = ahead;
  Object.assign(ahead, { part: null, watched: null });
  watched?.disconnect();
  const own = part?.parentElement?.querySelector(`${PART}[hidden]`);
  if (own) own.hidden = false;
  part?.remove();
}
