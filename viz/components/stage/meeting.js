// The room of a talk: a window enters that of its address, or has one opened.

import { follow } from "../kit/scene.js";
import { showCovers } from "./covers.js";
import { placeInTalk } from "./going.js";
import { fillInvitation } from "./invitation.js";
import { LOST, carryOut, showTogether } from "./moving.js";
import { enterRoom, openRoom } from "./room.js";
import { createTogether, goThere, hear, see, underway } from "./together.js";

const BLOCKED = "Your browser keeps the presenter's window from opening: allow pop-ups of this page, then press p again.";

// The server has drawn what this window shows. isForgotten: another server, or another session of
// it, which begins at the link by which the page was opened, and is being told where it is.
export function meet(talk, isForgotten) {
  const { code, rooms, here, asked, led, opened, session, audience } = talk;
  const { role } = placeInTalk();
  const path = code && `${rooms}/${code}/news?role=${role}`;
  if (path !== (talk.room?.path ?? "")) {
    part(talk);
    if (path) talk.room = enterRoom(path, hearing(talk));
  }
  fillInvitation(talk.invitation, audience);
  const { to, isThere } = talk.together;
  if (isForgotten && to && isThere) goThere(talk.together, to);
  carryOut(talk, see(talk.together, { here, asked, led, opened: `${session} ${opened}` }));
  if (!code && role === "presenter") inRoom(talk, () => {});
}

export function part(talk) {
  talk.room?.end();
  Object.assign(talk, { room: null, isMet: false, why: "", tally: {}, following: undefined });
  talk.together = createTogether();
}

// The room has answered: what is done from now on, it is told of.
function entered(talk) {
  const { after } = talk;
  Object.assign(talk, { isMet: true, opening: null, after: null });
  after?.();
}

function hearing(talk) {
  const say = (why) => {
    talk.why = why;
    showTogether(talk);
    entered(talk);
  };
  return {
    hear(news, isFirst) {
      Object.assign(talk, { following: news.following, tally: news.tally });
      carryOut(talk, hear(talk.together, news, isFirst));
      showCovers(talk, talk.together.over);
      say("");
    },
    over: say,
    lost: () => say(LOST),
  };
}

// then() once this window is in a room: at once, or when that has answered.
export async function inRoom(talk, then) {
  if (talk.isMet) return then();
  talk.after = then;
  if (talk.code) return;
  const links = await open(talk);
  if (links) follow(links[placeInTalk().role]);
}

// The window itself opens while a key is pressed, or the browser would not let it.
export async function openPresenter(talk) {
  if (placeInTalk().role !== "stage") return;
  const opened = window.open("", "headscope-presenter", "popup,width=1440,height=900");
  const links = await open(talk);
  if (!links) return opened?.close();
  if (opened) opened.location = new URL(links.presenter, location.href);
  else window.alert(BLOCKED);
  if (!talk.code) follow(links.stage);
}

// Links to the windows of this talk's room, which is asked for once; null: there is none, and why.
async function open(talk) {
  if (talk.code) return talk.windows;
  try {
    const at = underway(talk.together) ?? talk.here; // what was drawn last may be the scene before
    return await (talk.opening ??= openRoom(talk.rooms, at));
  } catch (error) {
    Object.assign(talk, { opening: null, after: null });
    window.alert(error.message);
    return null;
  }
}
