// A page whose reader types sentences of their own. What is chosen goes to the worker, and what it makes
// to the components; everything that they tell is a change of what is chosen, and so of the address.

import { unpack } from "../../components/kit/unpack.js";
import { createActs } from "./acts.js";
import { createAnswers } from "./answers.js";
import { createScreen, listed, readAddress, writeAddress } from "./address.js";
import { pictures, readChosen } from "./chosen.js";
import { createCompare } from "./compare.js";
import { createControls } from "./controls.js";
import { createFiles } from "./files.js";
import { createHeads } from "./heads.js";
import { createModels, filled } from "./models.js";
import { notesOf } from "./notes.js";
import { isOfText, PAGES } from "./pages.js";
import { drawClasses, mountAll } from "./pictures.js";
import { pinnedTokens } from "./pins.js";
import { digest, pack } from "../payloads/pack.js";
import { stateOf } from "./states.js";
import { createStrip } from "./strip.js";
import { followLinks, markDone, pageOf } from "../shelf/shelf.js";
import { createSweep } from "./sweep.js";

const ALWAYS = ["change_offer", "word_card"]; // their places are kept until they are known
const FIRST = 3; // pictures that are seen at once; the others are drawn a frame later

// draws: name -> a component's drawing code. code: the worker's. content: what Python says of all of it.
export default function live(draws, code, content) {
  const { models, words, components, recorded, variables } = content;
  const { themes } = models[0].tables; // of all models the same
  const screens = createScreen(content);
  const own = { screen: {}, unknown: {}, opened: 0, theme: "", later: 0, isOther: false };

  const script = new Blob([code], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(script));
  const line = document.getElementById("model");
  const loads = createModels(models, worker, document.baseURI, line, words, refresh);
  const answers = createAnswers(worker, recorded, refresh, loads.refuse);
  const chosen = () => readChosen(own.screen, screens, models, content.opening);
  const { facts, sides } = answers;
  const spelled = (changes) => screens.spell(screens.choose(own.screen, changes));
  const style = () => themes[own.theme].card.style;
  const page = { chosen, choose, facts, sides, unknown, words, models, components, spelled, style };
  const put = (edits) => choose({ edits }, true);
  const decide = (prefix) => choose({ prefix }, true);
  const foot = document.getElementById("strip");
  const strip = createStrip(foot, words, put, decide);
  const acts = createActs(page, strip);
  const controls = createControls(page, acts);
  const heads = createHeads(page, content.surveys, refresh);
  const compare = createCompare(page, put);
  const sweep = createSweep(page, answers, refresh);
  const files = createFiles(page, worker, { ...content.arrays, tables: models[0].tables }, loads.refuse);
  const headers = () => {
    const { palette, heads: given } = themes[own.theme];
    return { change_offer: { palette }, word_card: { palette }, ...given };
  };
  // A component is not drawn anew while it tells something.
  const hear = (name, what, value) => setTimeout(() => acts[what]?.(value, name));
  const shown = mountAll(draws, components, headers, hear);

  // isEntry: Back leads to what was shown before; else it is the same entry, as while a sentence is
  // typed. isOther: it is another text than that of whoever types.
  function choose(changes, isEntry = false, isOther = false) {
    const leaving = files.leaving(changes);
    own.screen = screens.choose(own.screen, { ...leaving, ...changes });
    own.isOther = isOther;
    writeAddress(screens.spell(own.screen), isEntry || leaving !== null);
    refresh();
  }

  function refresh() {
    const it = chosen();
    controls.draw(it, own.isOther);
    own.isOther = false;
    if (!isOfText(it.page)) return paint(it); // no weights are sent for it
    loads.showInstead(it.model.file ? filled(words.of_file, it.model) : "");
    if (it.model.file) {
      answers.ask(it, pictures(it, components), it.model.file);
      return paint(it);
    }
    loads.choose(it.model.name);
    const isHere = loads.beside(it.b?.request.checkpoint ?? null);
    if (it.b) it.b.request.isHere = isHere; // once it is, the same is asked for anew
    const now = loads.openOne();
    // An example that nobody has touched is the better model's, until that one answers.
    const isTouched = Object.keys(own.screen).some((name) => !["text", "checkpoint"].includes(name));
    const isTheirs = now === it.model.name || isTouched;
    const found = isTheirs ? null : answers.recordedOf(it);
    loads.show(found ? "recorded" : now ? "" : "waits");
    if (found) answers.showRecorded(found);
    else if (!it.text.trim()) loads.refuse(words.empty);
    else if (now) answers.ask(it, [...pictures(it, components), ...cards(it, now)], now);
    else answers.forget();
    paint(it);
  }

  // What each written word needs is computed once nobody types; then its cards are asked for.
  function cards(it, now) {
    const isKnown = it.model.hasCards && PAGES[it.page].cards && answers.studyOf("evidence", it, now);
    const of = answers.shown("token_rows")?.nonce;
    const reading = { words: it.asWords, special: it.special };
    return isKnown && of ? [["word_card", { of, theme: own.theme, kind: it.kind, reading }]] : [];
  }

  // The card of the written word that is pinned, at the foot of the window; and the tokens' signs.
  function signed(it, of) {
    const has = answers.shown("word_card");
    const all = has && has.nonce !== own.read?.nonce ? unpack(has.payload).header : own.read?.all;
    own.read = has ? { nonce: has.nonce, all } : null;
    const isTheirs = has && all.of === answers.shown("token_rows")?.nonce && all.theme === own.theme;
    const rows = it.pins.filter((pin) => pin[0] === "q").map((pin) => Number(pin.slice(1)));
    const place = isTheirs && of ? all.opens[rows.at(-1)] : undefined;
    const card = place === undefined ? null : [all.style, ...all.cards[place]];
    document.getElementById("drawer").hidden = !card;
    const payload = pack({ card });
    shown.show("word_card", payload, digest(payload), { of: all?.of ?? "", pins: rows }, own.opened);
    return isTheirs ? all.signs : null;
  }

  function paint(it) {
    const list = pictures(it, components).map(([name]) => name);
    for (const host of document.querySelectorAll("[data-picture]")) {
      const name = host.dataset.picture;
      host.hidden = !ALWAYS.includes(name) && !(list.includes(name) && answers.shown(name)?.payload);
    }
    const of = sides()?.[it.kind];
    const pinned = of ? pinnedTokens(it.pins, of) : [];
    const both = it.b && answers.shown("comparison")?.payload;
    const found = both ? unpack(both).header : null;
    const state = { ...it, facts: facts(), pinned, signs: signed(it, of), sides: sides(), twins: found?.twins };
    const draw = (name) => {
      const has = answers.shown(name);
      if (has?.payload && name !== "comparison") shown.show(name, has.payload, has.nonce, stateOf(name, state), own.opened);
    };
    list.slice(0, FIRST).forEach(draw);
    clearTimeout(own.later);
    own.later = setTimeout(() => list.slice(FIRST).forEach(draw));
    if (it.page === "heads") heads.draw(it);
    if (it.b) compare.draw(it, found, facts(), loads.besideSays());
    if (it.page === "sweep") sweep.draw(it, loads.openOne(), own.theme);
    offer(it);
    noteOn(it);
    drawClasses(document.getElementById("classes"), facts()?.classes, words.predicted);
    strip.draw({ ...state, outcome: answers.outcome(it, loads.openOne()) });
  }

  // What the app says of an answer that is a guess, too short, or without an end.
  function noteOn({ model, method, edits, prefix }) {
    const isPlain = facts() && !edits && !prefix.length;
    const says = isPlain ? notesOf(facts(), model, method, words.notes) : [];
    const methods = model.methods.map(([, title]) => title).join(" and ");
    if (model.notes) says.push(...model.notes);
    if (model.unoffered) says.push(filled(words.unoffered, { method: model.unoffered, methods }));
    const node = document.getElementById("notes");
    node.hidden = !says.length;
    node.textContent = says.join(" ");
  }

  // The button that changes what is written: of a text that nothing changes yet.
  function offer(it) {
    const isPlain = it.page === "explore" && !it.edits && !it.prefix.length && it.model.tables.change_offer;
    const found = isPlain && answers.studyOf("change", it, loads.openOne());
    const payload = found || pack({ offer: null });
    const state = { of: digest(payload), isSought: false };
    shown.show("change_offer", payload, digest(payload), state, own.opened);
  }

  // What an address says that this page does not do: [name, value] of each.
  function unknown() {
    const others = Object.entries(own.unknown);
    const it = chosen();
    const { page: named, checkpoint, edits, decoding } = own.screen;
    if (decoding && decoding !== it.method) others.unshift(["decoding", decoding]);
    if (named && named !== it.page) others.unshift(["page", named]);
    if (checkpoint && checkpoint !== it.model.name) others.unshift(["checkpoint", checkpoint]);
    const { checkpoint_b: second, method_b: by } = own.screen;
    const { checkpoint: secondOf, method: byOf } = it.b?.request ?? { checkpoint: second, method: by };
    if (second && ![secondOf, it.model.name].includes(second)) others.push(["checkpoint_b", second]);
    if (by && !second && byOf !== by) others.push(["method_b", by]);
    const done = listed(it.made);
    for (const each of listed(edits)) if (!done.includes(each)) others.push(["edits", each]);
    return others;
  }

  function open() {
    const place = pageOf(readAddress(), content.places);
    if (place) return location.replace(new URL(place, document.baseURI));
    const typed = own.opened ? "" : document.getElementById("text").value; // before this script came
    Object.assign(own, screens.parse(readAddress()), { opened: own.opened + 1, isOther: !typed });
    if (typed) own.screen = screens.choose(own.screen, { text: typed });
    refresh();
  }

  function dress() {
    own.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    document.documentElement.style.cssText = `${variables[own.theme]}; color-scheme: ${own.theme}`;
    if (own.opened) paint(chosen());
  }

  worker.onmessage = ({ data }) => {
    if (files.hears(data)) files.hear(data);
    else if (loads.hears(data)) loads.hear(data);
    else answers.hear(data);
  };
  worker.onerror = ({ message }) => loads.refuse(message || words.no_worker);
  window.addEventListener("popstate", open);
  window.addEventListener("pageshow", markDone);
  followLinks((query) => {
    writeAddress(query, true);
    document.querySelector("[data-scroller]").scrollTop = 0;
    open();
  });
  // Escape releases what is pinned, unless somebody types.
  window.addEventListener("keydown", ({ key, defaultPrevented }) => {
    const isFree = !defaultPrevented && document.activeElement?.tagName !== "INPUT";
    if (key === "Escape" && isFree && chosen().pins.length) choose({ pins: null, cell: null });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
  dress();
  open();

  // The face of the page for whoever embeds it, documented in docs/deploy.md.
  window.headscope = {
    ready: loads.ready,
    models: models.map(({ name }) => name),
    async answer(text, { method, checkpoint, edits = [], prefix = [] } = {}) {
      const name = checkpoint ?? loads.openOne() ?? chosen().model.name;
      await loads.whenOpen(name);
      const usual = models.find((model) => model.name === name).methods[0]?.[0];
      const request = { text, method: method ?? usual, edits, prefix };
      const { maps, shapes, words: _, ...answer } = await answers.send(request);
      const weights = (kind, layer) => ({ values: maps[kind][layer], shape: shapes[kind] });
      return { ...answer, weights };
    },
  };
}
