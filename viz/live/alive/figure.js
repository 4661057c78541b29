// One picture of an address for somebody's own page, in a frame: a field, who answers, and a link to the
// whole page at the same address.

import { createActs } from "../page/acts.js";
import { createScreen, readAddress } from "../page/address.js";
import { createAnswers } from "../page/answers.js";
import { pictures, readChosen } from "../page/chosen.js";
import { createModels, filled } from "../page/models.js";
import { mountAll } from "../page/pictures.js";
import { pinnedTokens } from "../page/pins.js";
import { stateOf } from "../page/states.js";

// draws, code, content: as in ../page/page.js.
export default function figure(draws, code, content) {
  const { models, words, components, variables, opening } = content;
  const { themes } = models[0].tables; // of all models the same
  const screens = createScreen(content);
  const own = { ...screens.parse(readAddress()), theme: "", opened: 0 };
  const [field, output, line, link, lacks] = ["input", "output", ".model", "a", ".lacks"].map((each) =>
    document.querySelector(each),
  );
  const worker = workerOf(code);
  if (!worker) return (line.textContent = words.no_worker);

  const loads = createModels(models, worker, document.baseURI, line, words, refresh);
  const answers = createAnswers(worker, [], refresh, loads.refuse);
  const { facts, sides } = answers;
  const chosen = () => readChosen(own.screen, screens, models, opening);
  // The last one of a page is its large one.
  const pictureOf = (it) => pictures(it, components).at(-1);
  const page = { chosen, choose, facts, sides, components };
  const acts = createActs(page, { edit: () => {} });
  const headers = () => themes[own.theme].heads;
  const hear = (name, what, value) => setTimeout(() => acts[what]?.(value, name));
  const shown = mountAll(draws, components, headers, hear);

  function choose(changes) {
    own.screen = screens.choose(own.screen, changes);
    refresh();
  }

  function refresh() {
    const it = chosen();
    loads.choose(it.model.name);
    const now = loads.openOne();
    loads.show(now ? "" : "waits");
    if (!it.text.trim()) loads.refuse(words.empty);
    else if (now) answers.ask(it, [pictureOf(it)], now);
    paint(it);
  }

  // What the address says that is not shown here: "name=value" of each.
  function notDone({ model, method }) {
    const { checkpoint, decoding } = own.screen;
    const others = Object.entries(own.unknown);
    if (checkpoint && checkpoint !== model.name) others.unshift(["checkpoint", checkpoint]);
    if (decoding && decoding !== method) others.unshift(["decoding", decoding]);
    return others.map((each) => each.join("="));
  }

  function paint(it) {
    const query = screens.spell(own.screen);
    link.href = query ? `index.html?${query}` : "index.html";
    const what = notDone(it);
    lacks.hidden = !what.length;
    lacks.textContent = filled(words.lacks, { what: what.join(", ") });
    const [name] = pictureOf(it);
    for (const host of document.querySelectorAll("[data-picture]")) host.hidden = host.dataset.picture !== name;
    const has = answers.shown(name);
    if (!has?.payload) return;
    const of = sides()?.[it.kind];
    const state = { ...it, facts: facts(), pinned: of ? pinnedTokens(it.pins, of) : [], signs: null };
    shown.show(name, has.payload, has.nonce, stateOf(name, state), own.opened);
    output.textContent = answers.output() ? `→ ${answers.output()}` : "";
  }

  function dress() {
    own.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    document.documentElement.style.cssText = `${variables[own.theme]}; color-scheme: ${own.theme}`;
    paint(chosen());
  }

  worker.onmessage = ({ data }) => (loads.hears(data) ? loads.hear(data) : answers.hear(data));
  worker.onerror = ({ message }) => loads.refuse(message || words.no_worker);
  const type = () => choose({ text: field.value });
  field.oninput = ({ isComposing }) => isComposing || type();
  field.oncompositionend = type;
  field.value = chosen().text;
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  // Whoever holds the frame may make it as high as this is.
  new ResizeObserver(() => {
    parent.postMessage({ headscope: Math.ceil(document.body.getBoundingClientRect().height) }, "*");
  }).observe(document.body);
  dress();
  refresh();
}

function workerOf(code) {
  try {
    return new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  } catch {
    return null;
  }
}
