// A talk: its keys lead from scene to scene, whatever was changed on the page. Streamlit mounts it
// anew with each page, so all of it belongs to the window: no key is lost in between.

import { mounted } from "../kit/mounted.js";
import { applyPalette, element } from "../kit/page.js";
import { follow, isTyped, placeInTalk } from "./going.js";
import { turnDark } from "./dark.js";
import { actionOf } from "./keys.js";
import { createOverview } from "./overview.js";
import { createRecorded, expectScene, isCut, keep, reveal, standIn } from "./recorded.js";
import { isShown, turn } from "./turning.js";

const TALK = "headscopeTalk"; // of the window, as each mount has modules of its own

// Not a picture: nobody copies it as a figure.
export default mounted("stage", create, update);

function create(root) {
  const talk = (window[TALK] ??= begin());
  dress(talk, root);
  return { talk, dispose() {} };
}

function begin() {
  const host = element("div", "talk-host");
  const talk = { host, root: element("div", "headscope talk"), scenes: [], leave: "./" };
  const shadow = host.attachShadow({ mode: "open" });
  talk.place = element("button", "place");
  talk.place.type = "button";
  talk.place.title = "Overview (o)";
  talk.blank = element("div", "blank");
  talk.blank.popover = "manual";
  talk.overview = createOverview((i) => goTo(talk, i));
  talk.recorded = createRecorded((event) => onKey(talk, event));
  talk.place.onclick = () => talk.overview.open(talk, false);
  talk.blank.onclick = () => talk.blank.hidePopover();
  talk.root.append(talk.recorded.frame, talk.recorded.badge, talk.place, talk.blank, talk.overview.dialog);
  shadow.append(talk.root);
  document.body.append(host);
  window.addEventListener("keydown", (event) => onKey(talk, event), true);
  return talk;
}

// The same style as that of the component's own place.
function dress({ host, root }, own) {
  if (host.shadowRoot.querySelector("style")) return;
  const css = [...own.getRootNode().querySelectorAll("style")].map(({ textContent }) => textContent);
  const sheets = own.getRootNode().adoptedStyleSheets ?? [];
  host.shadowRoot.adoptedStyleSheets = [...sheets];
  if (css.length) root.before(element("style", "", css.join("\n")));
}

function update({ talk }, { title, scenes, leave, recorded, told, palette }) {
  Object.assign(talk, { title, scenes, leave, address: recorded, isTold: told, theme: palette.name });
  applyPalette(talk.root, palette);
  showPlace(talk);
  talk.watch ??= setInterval(() => look(talk), 250);
}

function look(talk) {
  showPlace(talk);
  if (talk.host.hidden) return;
  const { scene } = placeInTalk();
  if (isShown(scene)) keep(talk.recorded, talk.address); // beside a talk that has begun
  standIn(talk.recorded, { scene, isTold: talk.isTold, theme: talk.theme, goAgain: () => follow(location.href) });
}

function showPlace(talk) {
  const { role, scene } = placeInTalk();
  talk.host.hidden = role !== "stage";
  const said = `${scene} / ${talk.scenes.length}`;
  if (talk.place.textContent !== said) talk.place.textContent = said;
}

function onKey(talk, event) {
  if (talk.host.hidden || placeInTalk().role !== "stage") return;
  if (event.key === "Enter" && isTyped(event) && event.isTrusted) leaveField(event.composedPath()[0]);
  if (talk.overview.dialog.open && !/^(Page|F5)/.test(event.key)) return; // it hears them itself
  const action = actionOf(event, isTyped(event), event.view?.document.activeElement);
  if (!action) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  ACTIONS[action](talk, event);
}

const ACTIONS = {
  next: (talk) => goTo(talk, placeInTalk().scene),
  previous: (talk) => goTo(talk, placeInTalk().scene - 2),
  first: (talk) => goTo(talk, 0),
  last: (talk) => goTo(talk, talk.scenes.length - 1),
  blank: ({ blank }) => (isBlank(blank) ? blank.hidePopover() : blank.showPopover()),
  dark: () => turnDark(),
  full: () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()),
  go: (talk) => talk.overview.open(talk, true),
  overview: (talk) => talk.overview.open(talk, false),
  reveal: (talk) => reveal(talk.recorded),
  field: (_, event) => event.composedPath()[0].blur(),
  leave: (talk) => (isBlank(talk.blank) ? talk.blank.hidePopover() : follow(talk.leave)),
};

// Once Streamlit has heard of it, so that the next key leads on.
function leaveField(field) {
  setTimeout(() => field.blur());
}

function isBlank(node) {
  return node.matches(":popover-open");
}

function goTo(talk, i) {
  if (isBlank(talk.blank)) talk.blank.hidePopover();
  talk.overview.dialog.close();
  const to = Math.max(0, Math.min(talk.scenes.length - 1, i));
  if (!talk.scenes.length || to === placeInTalk().scene - 1) return;
  if (isCut() || !talk.recorded.frame.hidden) go(talk, to);
  else turn(() => go(talk, to), () => isShown(to + 1) || isCut());
}

// Where the server cannot be told, the address says it: the live scene follows once it can.
function go(talk, to) {
  const { link } = talk.scenes[to];
  if (isCut()) history.replaceState(history.state, "", link);
  else follow(link);
  expectScene(talk.recorded);
  look(talk);
}
