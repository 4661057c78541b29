// A link to another state of the same page: the part that it changes is shown before the page has run,
// as a run costs the browser more. viz/ui/ahead.py makes the part.

const PART = "[data-ahead]";
const LONGEST = 400; // ms that a link waits for its part
const LATE = 600; // ms after a run in which what it drew is surely there
const GONE = 5000; // ms in which a run begins, on a slow line and a busy machine, too

// part: what is shown ahead of a run; held: the link that had the focus.
const ahead = { asked: 0, part: null, held: null };

// Whether a part of this page may be what a link changes.
export function hasPart(link) {
  return link.pathname === location.pathname && document.querySelector(PART) !== null;
}

// Returns whether the link is still the last that was followed.
export async function showAhead(link) {
  const number = ++ahead.asked;
  const here = document.querySelector(PART);
  const text = await partOf(here.dataset.ahead + link.search);
  if (number !== ahead.asked) return false;
  if (text && here.isConnected) {
    ahead.held = link === document.activeElement ? link : null;
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
  const part = (ahead.part = new DOMParser().parseFromString(text, "text/html").querySelector(PART));
  parent.querySelector(PART).hidden = true;
  parent.append(part);
  linkOf(part)?.focus({ preventScroll: true });
  settle(part);
}

// In each frame until a run has drawn the part, and none has gone on for a while. Where none does, as
// where the server is gone, the one of before is shown again.
async function settle(part) {
  let rested = performance.now(); // since then
  let patience = GONE;
  while (ahead.part === part && performance.now() - rested < patience) {
    const isDrawn = look(part);
    const isGoing = !document.querySelector('[data-test-script-state="notRunning"]');
    if (isGoing || (isDrawn && patience === GONE)) [rested, patience] = [performance.now(), LATE];
    await new Promise((go) => requestAnimationFrame(go));
  }
  if (ahead.part !== part) return;
  look(part); // a frame may be longer than all that: what was drawn in it has the focus
  drop();
}

// A run has drawn the part, or one that was asked for before and comes late. Returns whether it is there.
function look(part) {
  const own = [...document.querySelectorAll(PART)].find((each) => each !== part);
  if (own?.dataset.at === part.dataset.at) {
    own.hidden = false;
    part.remove();
  } else if (own && !part.isConnected) {
    own.hidden = true;
    own.parentElement.append(part);
  }
  if (document.activeElement === document.body) linkOf(part.isConnected ? part : own)?.focus({ preventScroll: true });
  return own?.dataset.at === part.dataset.at;
}

// Who followed a link by its key is at the same one again.
function linkOf(part) {
  const isSame = (each) => each.href === ahead.held.href && each.textContent === ahead.held.textContent;
  return ahead.held && part && [...part.querySelectorAll("a")].find(isSame);
}

function drop() {
  const { part } = ahead;
  ahead.part = null;
  part?.remove();
  for (const each of document.querySelectorAll(PART)) each.hidden = false;
}
