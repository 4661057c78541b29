// The components of the app in elements of this page: what stands for Streamlit, and for its server.

import { element } from "../../components/kit/page.js";
import { pack } from "../payloads/pack.js";
import { filled } from "./models.js";

const SESSION = "live";

// draws: name -> a component's drawing code; components: name -> { html, css }; heads: name -> what Python
// puts around a payload, in the colours of the theme. hear(name, what, value): somebody touched it.
export function mountAll(draws, components, heads, hear) {
  const shown = new Map();

  function mount(name) {
    const host = document.querySelector(`[data-picture="${name}"]`);
    const shadow = host.attachShadow({ mode: "open" }); // as in Streamlit: `:host` is meant
    const sheet = document.createElement("style");
    const { css, html } = components[componentOf(name)];
    sheet.textContent = css;
    shadow.append(sheet, document.createRange().createContextualFragment(html));
    return { shadow, version: 0, heard: 0 };
  }

  // over: the state of the picture, as its `data` in Python is given it; opened: which address it is of.
  function show(name, payload, nonce, over, opened) {
    if (!shown.has(name)) shown.set(name, mount(name));
    const picture = shown.get(name);
    const told = { key: name, heard: picture.heard, opened, session: SESSION, caption: "" };
    told.version = ++picture.version;
    const component = componentOf(name);
    const data = pack({ ...heads()[component], ...over, nonce, ...told }, [payload, payload.length]);
    const setTriggerValue = (_, news) => take(name, picture, news);
    draws[component]({ data, parentElement: picture.shadow, setTriggerValue });
  }

  // What a component tells is heard at once; what it repeats was heard before.
  function take(name, picture, news) {
    const fresh = news.filter(({ n }) => n > picture.heard);
    picture.heard = Math.max(picture.heard, ...news.map(({ n }) => n));
    for (const { name: what, value } of fresh) hear(name, what, value);
  }

  return { show };
}

// A picture on Compare has a place beside its component: "head_view b".
const componentOf = (name) => name.split(" ")[0];

// What a classifier says of a text: a bar for each class, as the app's chart has it.
// classes: { name, prob, share, logit, isBest } of each, or none. says: the sentence over them.
export function drawClasses(node, classes, says) {
  node.hidden = !classes;
  if (!classes) return;
  const best = classes.find(({ isBest }) => isBest);
  const list = element("ul");
  for (const each of classes) {
    const row = element("li");
    const bar = element("span", "bar");
    bar.append(Object.assign(element("span"), { style: `width: ${100 * each.prob}%` }));
    row.append(element("span", "name", each.name), bar, element("span", "share", each.share));
    row.toggleAttribute("data-best", each.isBest);
    list.append(row);
  }
  node.replaceChildren(element("p", "", filled(says, best)), list);
}
