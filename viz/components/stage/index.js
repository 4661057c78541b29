// A talk: its keys lead from scene to scene, whatever was changed on the page. Streamlit mounts it
// anew with each page, so all of it belongs to the window: no key is lost in between.

import { mounted } from "../kit/mounted.js";
import { applyPalette, element } from "../kit/page.js";
import { follow } from "../kit/scene.js";
import { onAnswer } from "../kit/tally.js";
import { onKey } from "./acting.js";
import { createAway } from "./away.js";
import { createCover } from "./covers.js";
import { isFrame, placeInTalk } from "./going.js";
import { meet, part } from "./meeting.js";
import { goBack, goTo, look, setOver, showTogether } from "./moving.js";
import { createOverview } from "./overview.js";
import { createPresenter, showNext } from "./presenter.js";
import { createRecorded } from "./recorded.js";
import { createTogether } from "./together.js";

const TALK = "headscopeTalk"; // of the window, as each mount has modules of its own
const LOOK = 250; // ms between two looks at the address

// Not a picture: nobody copies it as a figure.
export default mounted("stage", create, update);

function create(root) {
  const talk = (window[TALK] ??= begin());
  dress(talk, root);
  const view = { talk, root, desk: null };
  view.dispose = () => {
    view.desk?.end();
    if (talk.desk === view.desk) talk.desk = null;
  };
  return view;
}

function begin() {
  const host = element("div", "talk-host");
  const talk = { host, root: element("div", "headscope talk"), scenes: [], windows: {}, code: "" };
  Object.assign(talk, { together: createTogether(), room: null, isMet: false, opening: null, after: null });
  Object.assign(talk, { over: "", why: "", tally: {}, following: undefined, desk: null });
  const shadow = host.attachShadow({ mode: "open" });
  talk.place = element("button", "place");
  talk.place.type = "button";
  talk.place.title = "Overview (o)";
  talk.blank = createCover("blank", () => setOver(talk, ""));
  talk.invitation = createCover("invitation", () => setOver(talk, ""));
  talk.overview = createOverview((i) => goTo(talk, i));
  talk.recorded = createRecorded((event) => onKey(talk, event));
  talk.place.onclick = () => talk.overview.open(talk, false);
  talk.away = createAway(() => goBack(talk));
  talk.root.append(talk.recorded.frame, talk.recorded.badge, talk.place, talk.away.bar);
  talk.root.append(talk.blank, talk.invitation, talk.overview.dialog);
  shadow.append(talk.root);
  document.body.append(host);
  window.addEventListener("keydown", (event) => onKey(talk, event), true);
  onAnswer((answer) => talk.room?.say(answer));
  setInterval(() => watch(talk), LOOK);
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

function update(view, said) {
  const { talk, root } = view;
  const { role, scene } = placeInTalk();
  const { recorded, told, palette, ...links } = said;
  const isForgotten = said.session !== (talk.session ?? said.session);
  Object.assign(talk, links, { address: recorded, isTold: told, theme: palette.name });
  applyPalette(talk.root, palette);
  if (said.start) return follow(said.start);
  if (!isFrame()) meet(talk, isForgotten);
  if (role === "presenter") {
    applyPalette(root, palette);
    talk.desk = view.desk ??= createPresenter(root);
    showNext(view.desk, { ...said, number: scene + 1, heading: said.scenes[scene]?.heading });
  }
  look(talk);
  showTogether(talk);
}

// The address may lead out of the talk, where nothing of it is mounted any more.
function watch(talk) {
  look(talk);
  if (talk.room && placeInTalk().role === null) part(talk);
}
