// The choices of the page itself, which are of no component: the sentence, the model, the head.

import { element } from "../../components/kit/page.js";
import { readAddress } from "./address.js";
import { largeOf } from "./chosen.js";
import { isArrays } from "./files.js";
import { filled, standsIn } from "./models.js";
import { LARGE, PAGES } from "./pages.js";
import { createMenu } from "../shelf/shelf.js";

const MORE = "headscope-more"; // what the app remembers it by

const at = (id) => document.getElementById(id);

// page: as in acts.js, with `words` and `models`. Returns draw(it, isOther): isOther: the text is not
// of whoever types.
export function createControls(page, acts) {
  const { words, models, components } = page;
  const drawMenu = createMenu();

  function draw(it, isOther) {
    const field = at("text");
    if (document.activeElement !== field || isOther) field.value = it.text;
    const here = it.model.file ? words.here_of_file : words.here[it.page];
    document.querySelector(".here").textContent = filled(here, it.model);
    for (const button of document.querySelectorAll("nav button")) {
      button.hidden = !PAGES[button.dataset.page].isOffered(it.model);
      button.ariaCurrent = button.dataset.page === it.page ? "page" : null;
    }
    drawMenu(it.page);
    const own = [it.page, ...PAGES[it.page].groups];
    for (const part of document.querySelectorAll("[data-of]")) {
      part.hidden = !own.includes(part.dataset.of);
    }
    document.documentElement.dataset.page = it.page;
    const { kinds, examples, methods } = it.model;
    const { n_layers: nLayers, n_heads: nHeads } = kinds[it.kind];
    fill("example", [["", words.try_], ...examples.map((each) => [each, each])], "");
    fill("checkpoint", models.map(({ name, label }) => [name, label]), it.model.name);
    fill("decoding", methods, it.method);
    if (!methods.length) at("decoding").hidden = true;
    if (!examples.length) at("example").hidden = true;
    fill("kind", Object.entries(kinds).map(([kind, { title }]) => [kind, title]), it.kind);
    fill("layer", numbered(nLayers, "L"), String(it.layer));
    fill("head", numbered(nHeads, "H"), String(it.head));
    fill("tokens", words.tokens, it.asWords ? "words" : "pieces");
    fill("special", words.special, it.special);
    at("experiment").hidden = Boolean(it.model.file);
    at("experiment").setAttribute("aria-pressed", String(it.tool !== "look"));
    const isLarge = ([name]) => LARGE[name] in components && largeOf(it.model).includes(name);
    const large = words.pictures.filter(isLarge);
    radios(at("picture"), large, it.picture, (picture) => page.choose({ picture }));
    radios(at("tool"), words.tools, it.tool, (tool) => page.choose({ tool }));
    at("app").hidden = !words.app;
    at("app").href = `${words.app}&${readAddress()}`;
    sayElsewhere(it);
  }

  // What the page does not do it says, with where the app is.
  function sayElsewhere({ page: here, model }) {
    const unknown = page.unknown();
    const { page: place, checkpoint } = Object.fromEntries(unknown);
    const isPage = Object.hasOwn(words.absent, place);
    const isFile = checkpoint && isArrays(checkpoint);
    const isOther = ([name]) => name !== "checkpoint" && !(name === "page" && isPage);
    const others = unknown.filter(isOther).map((each) => each.join("="));
    const app = words.app ? words.elsewhere_here : words.elsewhere;
    const says = [
      isPage && words.absent[place],
      checkpoint && filled(isFile ? words.file_gone : words.not_here, { checkpoint, model: model.name }),
      others.length && filled(words.lacks, { what: others.join(", ") }),
      isFile ? "" : filled(app, { address: readAddress(), here: titleOf(here) }),
    ];
    at("elsewhere").hidden = !unknown.length;
    at("elsewhere").textContent = unknown.length ? says.filter(Boolean).join(" ") : "";
  }

  const titleOf = (name) => document.querySelector(`nav [data-page="${name}"]`).textContent;

  function listen() {
    const type = () => page.choose({ text: at("text").value });
    // Not what token_rows says to Streamlit's field when somebody goes back: the address has the text.
    at("text").oninput = ({ isComposing, isTrusted }) => isTrusted && !isComposing && type();
    at("text").oncompositionend = type;
    document.querySelector("form").onsubmit = (event) => event.preventDefault();
    at("example").onchange = ({ target }) => page.choose({ text: target.value }, true, true);
    at("checkpoint").onchange = ({ target }) => {
      const model = models.find(({ name }) => name === target.value);
      const isAlike = standsIn(model, page.chosen().model); // else it does not read this text
      const text = isAlike ? {} : { text: model.examples[0] };
      page.choose({ ...text, checkpoint: target.value }, true, true);
    };
    for (const id of ["decoding", "tokens", "special"]) {
      at(id).onchange = ({ target }) => page.choose({ [id]: target.value }, true);
    }
    const headAt = () => acts.open(["kind", "layer", "head"].map((id) => at(id).value));
    for (const id of ["layer", "head"]) at(id).onchange = headAt;
    at("kind").onchange = ({ target }) => acts.open([target.value, 0, 0]);
    at("experiment").onclick = () =>
      page.choose({ tool: page.chosen().tool === "look" ? "heads" : null });
    for (const button of document.querySelectorAll("nav button")) {
      button.onclick = () => page.choose({ page: button.dataset.page }, true);
    }
    at("more").onclick = () => setMore(!isMore());
    at("copy").onclick = copy;
    if (remembered()) setMore(true);
  }

  async function copy() {
    const isDone = await navigator.clipboard?.writeText(location.href).then(
      () => true,
      () => false,
    );
    at("copy").textContent = isDone ? words.copied : words.not_copied;
    setTimeout(() => (at("copy").textContent = words.copy), 2000);
  }

  listen();
  return { draw };
}

export const counted = (n, [one, many]) => `${n} ${n === 1 ? one : many}`;

export const numbered = (n, letter) => Array.from({ length: n }, (_, i) => [String(i), `${letter}${i}`]);

// options: [value, title] of each.
export function fill(id, options, value) {
  const select = at(id);
  const key = JSON.stringify(options);
  if (select.dataset.options !== key) {
    select.dataset.options = key;
    const each = ([name, title]) => Object.assign(element("option", "", title), { value: name });
    select.replaceChildren(...options.map(each));
  }
  select.value = value;
}

export function radios(node, options, value, choose) {
  const names = options.map(([name]) => name).join();
  if (node.dataset.options !== names) {
    node.dataset.options = names;
    const buttons = options.map(([name, title]) => {
      const button = Object.assign(element("button", "", title), { type: "button" });
      button.onclick = () => choose(name);
      button.setAttribute("role", "radio");
      button.dataset.name = name;
      return button;
    });
    node.replaceChildren(...buttons);
    node.onkeydown = (event) => {
      const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!by) return;
      event.preventDefault();
      const next = buttons.at((buttons.indexOf(document.activeElement) + by) % buttons.length);
      next.focus();
      next.click();
    };
  }
  for (const button of node.children) {
    const isChosen = button.dataset.name === value;
    button.setAttribute("aria-checked", String(isChosen));
    button.tabIndex = isChosen ? 0 : -1;
  }
}

const isMore = () => document.documentElement.dataset.more === "known";

function setMore(isOpen) {
  if (isOpen) document.documentElement.dataset.more = "known";
  else delete document.documentElement.dataset.more;
  at("more").setAttribute("aria-expanded", String(isOpen));
  try {
    localStorage.setItem(MORE, isOpen ? "known" : "");
  } catch {
    // nothing is remembered here
  }
}

function remembered() {
  try {
    return Boolean(localStorage.getItem(MORE));
  } catch {
    return false;
  }
}
