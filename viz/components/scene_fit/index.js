// Every scene of a story as on a stage of a laptop's size, one after the other, in a small picture;
// then a sentence for each that is taller, as nobody scrolls in a talk.

import { mounted } from "../kit/mounted.js";
import { applyPalette, element } from "../kit/page.js";
import { follow, isShown, isTaller } from "../kit/scene.js";

const WIDE = 1280; // px
const HIGH = 720;
const SIZE = `${WIDE} × ${HIGH}`;
const LOOK = 100; // ms between two looks at the scene
const LONGEST = 60_000; // ms for one scene; a first one loads the whole app

// Not a picture: nobody copies it as a figure.
export default mounted("scene_fit", create, update);

function create(root) {
  const view = { root, scenes: [], told: null, check: 0 };
  view.button = element("button", "", "Check that every scene fits");
  Object.assign(view.button, { type: "button", title: `On a screen of ${SIZE}, without scrolling` });
  view.button.onclick = () => check(view);
  view.said = element("div", "said");
  view.said.setAttribute("role", "status");
  view.frame = element("div", "scene");
  view.frame.hidden = true;
  root.append(view.button, view.said, view.frame);
  view.dispose = () => (view.check += 1);
  return view;
}

// Another story was not checked.
function update(view, { scenes, told, palette }) {
  applyPalette(view.root, palette);
  if (told === view.told) return;
  Object.assign(view, { scenes, told, check: view.check + 1 });
  end(view, "");
}

async function check(view) {
  const own = (view.check += 1);
  const faults = [];
  const page = begin(view);
  for (const [i, link] of view.scenes.entries()) {
    say(view, `Scene ${i + 1} of ${view.scenes.length} …`);
    if (i) follow(link, page.contentDocument);
    else page.src = new URL(link, location.href).href;
    const isDrawn = await drawn(view, own, page, i + 1);
    if (own !== view.check) return;
    if (!isDrawn) faults.push(`Scene ${i + 1} was not drawn within a minute: open it to see why.`);
    else if (isTaller(page.contentDocument)) {
      faults.push(`Scene ${i + 1} is taller than a screen of ${SIZE}: shorten its words, or show less.`);
    }
  }
  end(view, ...(faults.length ? faults : [`Every scene fits a screen of ${SIZE}.`]));
}

function begin(view) {
  const page = element("iframe");
  page.title = "The scene that is checked";
  page.inert = true;
  Object.assign(page.style, { width: `${WIDE}px`, height: `${HIGH}px` });
  view.frame.replaceChildren(page);
  view.frame.hidden = false;
  view.button.disabled = true;
  view.frame.style.setProperty("--times", view.frame.clientWidth / WIDE);
  return page;
}

// Whether the scene of this number came; twice in a row, as pictures may take their size afterwards.
async function drawn(view, own, page, number) {
  const start = performance.now();
  let times = 0;
  while (times < 2 && own === view.check && performance.now() - start < LONGEST) {
    await new Promise((wake) => setTimeout(wake, LOOK));
    times = isShown(number, page.contentDocument) ? times + 1 : 0;
  }
  return times === 2;
}

function say(view, ...sentences) {
  view.said.replaceChildren(...sentences.filter(Boolean).map((said) => element("p", "", said)));
}

function end(view, ...sentences) {
  view.frame.replaceChildren();
  view.frame.hidden = true;
  view.button.disabled = false;
  say(view, ...sentences);
}
