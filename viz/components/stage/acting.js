// What the keys of a talk do, in the windows that steer it.

import { isTyped } from "../kit/keyed.js";
import { follow, isAtRest, isShown } from "../kit/scene.js";
import { shownTheme } from "../kit/theme.js";
import { showCovers } from "./covers.js";
import { turnDark } from "./dark.js";
import { placeInTalk } from "./going.js";
import { actionOf } from "./keys.js";
import { inRoom, openPresenter } from "./meeting.js";
import { STEERED, goTo, sceneAhead, setOver } from "./moving.js";
import { isCut, reveal } from "./recorded.js";
import { turn } from "./turning.js";

export function onKey(talk, event) {
  if (talk.host.hidden || !STEERED.includes(placeInTalk().role)) return;
  if (event.key === "Enter" && isTyped(event) && event.isTrusted) leaveField(event.composedPath()[0]);
  if (talk.overview.dialog.open && !/^(Page|F5)/.test(event.key)) return; // it hears them itself
  const action = actionOf(event, isTyped(event), event.view?.document.activeElement);
  if (!action) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  ACTIONS[action](talk, event);
}

const ACTIONS = {
  next: (talk) => goTo(talk, sceneAhead(talk)),
  previous: (talk) => goTo(talk, sceneAhead(talk) - 2),
  first: (talk) => goTo(talk, 0),
  last: (talk) => goTo(talk, talk.scenes.length - 1),
  blank: (talk) => setOver(talk, talk.over === "blank" ? "" : "blank"),
  dark: (talk) => turn(turnDark, () => isCut() || isDrawnIn(talk, shownTheme())),
  full: () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()),
  go: (talk) => talk.overview.open(talk, true),
  overview: (talk) => talk.overview.open(talk, false),
  presenter: (talk) => openPresenter(talk),
  invite: (talk) => inRoom(talk, () => setOver(talk, talk.over === "qr" ? "" : "qr")),
  tool: ({ tool }) => placeInTalk().role === "stage" && follow(tool),
  reveal: ({ recorded }) => reveal(recorded),
  field: (_, event) => event.composedPath()[0].blur(),
  leave: (talk) => (talk.after ? (talk.after = () => {}) : talk.over ? setOver(talk, "") : leave(talk)),
};

// Whether the server has drawn all of the window in this theme.
function isDrawnIn(talk, theme) {
  const { role, scene } = placeInTalk();
  return talk.theme === theme && (role === "stage" ? isShown(scene) : isAtRest());
}

// A window that was opened for it is closed.
function leave(talk) {
  talk.going = ""; // what it was on its way to is not gone to any more
  showCovers(talk, "");
  if (placeInTalk().role === "presenter" && window.opener) window.close();
  else follow(talk.leave);
}

// Once Streamlit has heard of it, so that the next key leads on.
function leaveField(field) {
  setTimeout(() => field.blur());
}
