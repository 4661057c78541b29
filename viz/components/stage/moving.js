// A window goes to a scene: by its own keys, which its room is told of, or because the room says so.

import { restPointer } from "../kit/resting.js";
import { follow, isAtRest, isShown } from "../kit/scene.js";
import { giveTally } from "../kit/tally.js";
import { shownTheme } from "../kit/theme.js";
import { showAway } from "./away.js";
import { showCovers } from "./covers.js";
import { isFrame, placeInTalk } from "./going.js";
import { showRoom } from "./presenter.js";
import { expectScene, isCut, keep, standIn } from "./recorded.js";
import { giveUp, goThere, lead, underway } from "./together.js";
import { turn } from "./turning.js";

export const LOST = "Not connected";
const LATE = 2000; // ms after which the server should have taken where a window went
const MOST_TRIES = 3;
export const STEERED = ["stage", "presenter"];

// To the scene of this place, or the nearest there is.
export function goTo(talk, i) {
  talk.overview.dialog.close();
  const to = Math.max(0, Math.min(talk.scenes.length - 1, i));
  if (talk.after || (talk.opening && !talk.code)) talk.after = () => goTo(talk, i);
  else if (talk.scenes[to] && to !== sceneAhead(talk) - 1) goToLink(talk, talk.scenes[to].link);
  else if (talk.over) setOver(talk, "");
}

// The scene, counted from 1, that this window shows or is on its way to: the next key leads on from
// there, however soon it comes.
export function sceneAhead({ together }) {
  const link = underway(together);
  return link === null ? placeInTalk().scene : sceneOf(link);
}

function sceneOf(link) {
  return Number(new URL(link, location.href).searchParams.get("scene") ?? 1);
}

function goToLink(talk, link) {
  const { together } = talk;
  showCovers(talk, "");
  if (talk.room && together.holds) carryOut(talk, { tell: lead(together, link) });
  show(talk, goThere(together, link));
}

export function goBack(talk) {
  show(talk, goThere(talk.together, talk.together.to));
}

// over: what hides the scene on the wall: "blank", "qr", or "" for nothing.
export function setOver(talk, over) {
  const { together } = talk;
  if (talk.room && together.holds && together.to) carryOut(talk, { tell: lead(together, together.to, over) });
  showCovers(talk, over);
  showTogether(talk);
}

// What the state of the window asks for.
export function carryOut(talk, { follow: link, tell }) {
  if (tell) talk.room.say(tell);
  if (link) show(talk, link);
}

// Where there is no picture to wait for, it goes at once; else a later one may overtake it. Where the
// server cannot be told, the address says it: the live scene follows once it can.
function show(talk, link) {
  const to = sceneOf(link);
  const { role, scene } = placeInTalk();
  Object.assign(talk, { going: link, wentAt: performance.now(), n_tries: 0 });
  const go = () => {
    if (talk.going !== link) return;
    if (isCut()) history.replaceState(history.state, "", link);
    else follow(link);
    if (role === "stage") expectScene(talk.recorded);
    look(talk);
  };
  const isRecorded = isCut() || !talk.recorded.frame.hidden;
  if (role !== "stage" || to === scene || isRecorded) go();
  else turn(go, () => isShown(to) || isCut());
  showTogether(talk);
}

// What follows from the address, and from how the server does.
export function look(talk) {
  const { role, scene } = placeInTalk();
  talk.host.hidden = role === null || isFrame();
  talk.place.hidden = !STEERED.includes(role);
  const said = `${scene} / ${talk.scenes.length}`;
  if (talk.place.textContent !== said) talk.place.textContent = said;
  if (isFrame()) return;
  if (role === null) giveUp(talk.together); // the talk is left, wherever it was on its way to
  else if (isLost(talk)) follow(talk.going);
  if (role !== "stage") return;
  if (scene !== talk.rested) restPointer();
  talk.rested = scene;
  if (isShown(scene)) keep(talk.recorded, talk.address); // beside a talk that has begun
  standIn(talk.recorded, { scene, isTold: talk.isTold, theme: shownTheme(), goAgain: () => follow(location.href) });
}

// Whether the server rests and never took where this window went: of pages that follow upon each
// other in a moment Streamlit may lose one.
function isLost(talk) {
  const to = underway(talk.together);
  if (to === null || isCut() || !isAtRest() || performance.now() < talk.wentAt + LATE) return false;
  Object.assign(talk, { wentAt: performance.now(), n_tries: talk.n_tries + 1 });
  if (talk.n_tries > MOST_TRIES) giveUp(talk.together);
  return talk.going === to && talk.n_tries <= MOST_TRIES;
}

// Whether this window is where its talk is, and what is said of that.
export function showTogether({ together, room, desk, away, why, following, over, tally }) {
  const isOff = why === LOST;
  giveTally(room && (!why || isOff) ? { ...tally, isThere: together.isThere, isLost: isOff } : null);
  const isGuest = Boolean(room) && !together.holds;
  showAway(away, isGuest && !together.isThere, isGuest && !isOff ? why : "");
  if (desk) showRoom(desk, { following, over, why });
}
