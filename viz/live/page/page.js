// A page whose reader types sentences of their own: what is chosen goes to the worker, what it makes to the
// components. Everything that they tell is a change of what is chosen, and so of the address.

import { element } from "../../components/kit/page.js";
import { unpack } from "../../components/kit/unpack.js";
import { createScreen, joined, listed, readAddress, writeAddress } from "./address.js";
import { createModels, filled } from "./models.js";
import { mountAll } from "./pictures.js";
import { moved, pinToken, pinnedTarget, pinnedTokens, pinsOf } from "./pins.js";
import { stateOf } from "./states.js";
import { createStrip } from "./strip.js";

const LARGE = { arrows: "head_view", map: "head_map", inside: "cell_steps" };
const PAGES = { explore: ["token_rows", "head_grid"], decode: ["token_rows", "search_tree", "decode_player"] };
const FIRST = 3; // pictures that are seen at once; the others are drawn a frame later

// draws: name -> a component's drawing code. code: the worker's. content: what Python says of all of it.
export default function live(draws, code, content) {
  const { models, words, components, recorded, edits: templates, opening } = content;
  const { themes } = models[0].tables; // of all models the same
  const screens = createScreen(content);
  const names = new Map(models.map((model) => [model.name, model]));
  const at = (id) => document.getElementById(id);
  const page = { screen: {}, unknown: {}, opened: 1, sides: null, shown: new Map(), busy: null, plain: new Map() };
  const said = new Map(); // number -> what is waited for by somebody's script
  let [asked, theme] = [0, ""];

  const worker = new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  const pictures = mountAll(draws, components, () => themes[theme].heads, hear);
  const loads = createModels(models, worker, document.baseURI, at("model"), words, () => refresh());
  const strip = createStrip(at("strip"), words, templates, (now) => choose({ edits: now }, true));

  // What is chosen, with what the model or the page says where nothing is.
  function chosen() {
    const value = (name) => screens.valueOf(page.screen, name);
    const model = names.get(value("checkpoint")) ?? models[0];
    const [kind, layer, head] = model.opens_at;
    const isOpening = opening.every((name) => !(name in page.screen));
    return {
      page: PAGES[value("page")] ? value("page") : "explore",
      model,
      text: page.screen.text ?? model.examples[0],
      method: model.methods.some(([name]) => name === value("decoding")) ? value("decoding") : model.methods[0][0],
      prefix: numbers(value("prefix"), "."),
      edits: value("edits"),
      kind: value("kind") || kind,
      layer: value("layer") === "" ? (value("kind") ? 0 : layer) : Number(value("layer")),
      head: value("head") === "" ? (value("kind") ? 0 : head) : Number(value("head")),
      heads: value("heads") ? numbers(value("heads"), ",") : null,
      isWords: value("tokens") !== "pieces",
      special: value("special") || (isOpening ? model.special : "shown"),
      pins: value("pins") ? value("pins").split(",") : [],
      cell: value("cell") ? numbers(value("cell"), ",") : null,
      picture: LARGE[value("picture")] ? value("picture") : "arrows",
      step: Number(value("step")),
      lines: Number(value("lines")),
      tool: value("tool"),
      tint: value("tint") || "log_prob",
      alignment: value("alignment") === "yes",
      path: value("path") === "yes",
      ownScale: value("own_scale") === "yes",
      view: { show: value("show"), sort: value("sort"), top: Number(value("top")) },
      mean: value("mean") === "yes",
    };
  }

  // isEntry: Back leads to what was shown before; else it is the same entry, as while a sentence is typed.
  function choose(changes, isEntry = false) {
    page.screen = screens.choose(page.screen, changes);
    writeAddress(screens.spell(page.screen), isEntry);
    refresh();
  }

  // What each picture is made of: another value of this, another payload.
  function wanted(it) {
    const large = LARGE[it.picture];
    const list = it.page === "explore" ? [...PAGES.explore, large] : PAGES.decode;
    if (it.page === "explore" && it.pins.length) list.push("word_card");
    const { kind, layer, head, isWords: asWords } = it;
    const reading = { words: asWords, special: it.special };
    const of = {
      token_rows: { asWords },
      head_grid: { reading },
      head_view: { kind, layer, reading },
      head_map: { kind, layer, head, reading },
      cell_steps: { kind, layer, head, cell: it.cell, asWords },
      search_tree: { asWords },
      decode_player: { layer, head: it.mean ? null : head, asWords },
      word_card: { theme },
    };
    return list.filter((name) => name in components).map((name) => [name, of[name]]);
  }

  const requestOf = ({ text, method, prefix, edits }) => ({ text, method, prefix, edits: listed(edits) });

  function refresh() {
    const it = chosen();
    drawChoices(it);
    loads.choose(it.model.name);
    const open = loads.openOne();
    const isRecorded = open !== it.model.name && recorded.some((each) => isOf(each, it));
    if (isRecorded) showRecorded(it);
    else if (open) ask(it, open);
    showAll(it);
  }

  // An example's first picture was made by Python when the page was built: nobody waits for it, and no
  // smaller model takes its place.
  const isOf = (each, it) => each.checkpoint === it.model.name && each.text === it.text && !it.edits && !it.prefix.length && it.method === it.model.methods[0][0];

  function showRecorded(it) {
    const found = recorded.find((each) => isOf(each, it));
    const key = `recorded ${found.checkpoint} ${found.text}`;
    if (page.request === key) return;
    page.request = key;
    page.shown.clear();
    for (const [name, { payload, nonce }] of Object.entries(found.pictures)) page.shown.set(name, { key: "", payload: bytesOf(payload), nonce });
    settle(found);
  }

  function settle({ output, target }) {
    page.output = output;
    page.target = target;
    page.sides = sidesOf(page.shown.get("head_grid")?.payload, page.sides);
    document.documentElement.dataset.shown = output;
  }

  // Of texts that were typed meanwhile only the newest is asked for.
  function ask(it, open) {
    const request = { checkpoint: open, ...requestOf(it) };
    const key = JSON.stringify(request);
    const needed = wanted(it).filter(([name, of]) => page.request !== key || page.shown.get(name)?.key !== JSON.stringify(of));
    if (!needed.length || !it.text.trim()) return;
    if (page.busy) return void (page.isWaiting = true);
    page.busy = { n: ++asked, key, needed, begun: performance.now() };
    worker.postMessage({ what: "answer", n: asked, ...request, pictures: Object.fromEntries(needed) });
    if (it.edits) askPlain(it, open);
  }

  // What is written without the edits, to stand beside what is written with them.
  function askPlain({ text, method, prefix }, open) {
    const key = JSON.stringify([open, text, method, prefix]);
    if (page.plain.has(key)) return;
    page.plain.set(key, null);
    send({ text, method, prefix, edits: [] }).then((answer) => {
      page.plain.set(key, answer.words);
      showAll(chosen());
    });
  }

  function answered({ n, payloads, output, target, ms }) {
    const { key, needed, begun } = page.busy;
    page.busy = null;
    const isNew = page.request !== key;
    if (isNew) page.shown.clear();
    page.request = key;
    for (const [name, of] of needed) if (payloads[name]) page.shown.set(name, { key: JSON.stringify(of), ...payloads[name] });
    settle({ output, target });
    at("model").toggleAttribute("data-fault", false);
    const it = chosen();
    showAll(it);
    const { dataset } = document.documentElement;
    requestAnimationFrame(() => setTimeout(() => Object.assign(dataset, { answered: n, computed: ms.toFixed(1), painted: (performance.now() - begun).toFixed(1) })));
    if (page.isWaiting) {
      page.isWaiting = false;
      refresh();
    }
  }

  function showAll(it) {
    const facts = { ...it, page: it.page, target: page.target, isFree: !it.edits, sides: page.sides, pinned: page.sides ? pinnedTokens(it.pins, page.sides[it.kind]) : [] };
    const list = wanted(it).map(([name]) => name);
    for (const name of Object.keys(components)) hide(name, !list.includes(name));
    const draw = (name) => {
      const has = page.shown.get(name);
      if (has) pictures.show(name, has.payload, has.nonce, stateOf(name, facts, templates), page.opened);
    };
    list.slice(0, FIRST).forEach(draw);
    clearTimeout(page.later);
    page.later = setTimeout(() => list.slice(FIRST).forEach(draw));
    at("drawer").hidden = !list.includes("word_card") || pinnedTarget(it.pins, page.sides?.[it.kind] ?? { rows: {} }) < 0;
    drawStrip(it);
  }

  function hide(name, isHidden) {
    const host = document.querySelector(`[data-picture="${name}"]`);
    if (host) host.hidden = isHidden;
  }

  function drawStrip(it) {
    const plain = page.plain.get(JSON.stringify([loads.openOne(), it.text, it.method, it.prefix]));
    const outcome = plain && page.request?.includes(JSON.stringify(listed(it.edits))) ? { before: plain, after: page.target?.words ?? [] } : null;
    const named = (axis) => (kind, position) => page.target?.[axis]?.[kind]?.[position] ?? String(position);
    strip.draw({ edits: it.edits, tool: it.tool, tokens: { words: page.target?.sourceWords ?? [], query: named("queries"), key: named("keys") }, outcome });
  }

  // What a component tells: names and values as the pages of the app hear them.
  function hear(name, what, value) {
    const it = chosen();
    setTimeout(() => acts[what]?.(value, it, name)); // a component is not drawn anew while it tells something
  }

  const acts = {
    pin: ({ side, position, key }, it) => {
      for (const kind of [it.kind, ...Object.keys(page.sides).sort((a, b) => (b === "cross") - (a === "cross"))]) {
        const own = pinsOf(page.sides[kind], side, position);
        if (!own.length) continue;
        const before = kind === it.kind ? it.pins : moved(it.pins, page.sides[it.kind], page.sides[kind]);
        const turned = kind === it.kind ? {} : { kind, layer: null, head: null };
        return choose({ ...turned, pins: pinToken(before, own, key).join(",") || null, cell: null });
      }
    },
    open: ([kind, layer, head], it) =>
      choose({ kind, layer: String(layer), head: String(head), pins: moved(it.pins, page.sides[it.kind], page.sides[kind]).join(",") || null }, true),
    turn: (by, it) => turn(by, it),
    off: (heads, it) => {
      const others = listed(it.edits).filter((each) => !each.startsWith("head-off:"));
      strip.edit(it.edits, [...others, ...heads.map((head) => `head-off:${head.join(".")}`)]);
    },
    cut: (lines, it) => strip.edit(it.edits, [...listed(it.edits), ...lines.flatMap(([head, row, column]) => cuts(it, head, row, column))]),
    cell: ([row, column], it) => {
      if (it.tool === "arrows") acts.cut([[it.head, row, column]], it);
      else choose({ cell: `${page.target.groups[it.kind].rows[row][0]},${page.target.groups[it.kind].columns[column][0]}`, picture: "cell_steps" in components ? "inside" : it.picture, pins: `q${row},k${column}` });
    },
    view: (view, it, name) =>
      name === "head_grid"
        ? choose({ show: view.show, sort: view.sort, top: String(view.top) })
        : choose({ pins: view.pins.join(",") || null, lines: String(view.lines), cell: null, heads: `${view.heads}` === `${it.head}` ? null : view.heads.join(",") || "none" }),
    tint: (tint) => choose({ tint }),
    alignment: (isOn) => choose({ alignment: isOn ? "yes" : null }),
    step: (step) => choose({ step: String(step) }),
    node: ([, id]) => choose({ step: String(Math.max(0, pathTo(id).length - 1)) }),
    branch: (news) => goOn(typeof news[1] === "number" && typeof news[0] === "string" ? pathTo(news[1]) : news),
    taken: (edits, it) => strip.edit(it.edits, edits),
  };

  const goOn = (ids) => choose({ prefix: ids.join("."), step: String(Math.max(0, ids.length - 1)) }, true);

  // The tokens that lead to a node of the search.
  function pathTo(id) {
    const ids = [];
    for (let node = id; node > 0; node = page.target.nodes[node][0]) ids.unshift(page.target.nodes[node][1]);
    return ids;
  }

  function cuts({ kind, layer }, head, row, column) {
    const { rows, columns } = page.target.groups[kind];
    return rows[row].flatMap((query) => columns[column].map((key) => `cut:${kind}.${layer}.${head}.${query}.${key}`));
  }

  function turn(by, it) {
    const { n_layers, n_heads } = it.model.kinds[it.kind];
    const place = it.layer * n_heads + it.head + by;
    if (place < 0 || place >= n_layers * n_heads) return;
    choose({ kind: it.kind, layer: String(Math.floor(place / n_heads)), head: String(place % n_heads) });
  }

  // The choices of the page itself, which are not of a component.
  function drawChoices(it) {
    const field = at("text");
    if (document.activeElement !== field || page.isOther) field.value = it.text;
    page.isOther = false;
    for (const button of document.querySelectorAll("nav button")) button.ariaCurrent = button.dataset.page === it.page ? "page" : null;
    for (const section of document.querySelectorAll("section")) section.hidden = section.dataset.of !== it.page;
    fill(at("example"), [["", words.try_], ...it.model.examples.map((each) => [each, each])], "");
    fill(at("checkpoint"), models.map(({ name, label }) => [name, label]), it.model.name);
    fill(at("decoding"), it.model.methods, it.method);
    const { n_layers, n_heads } = it.model.kinds[it.kind];
    fill(at("kind"), Object.entries(it.model.kinds).map(([kind, { title }]) => [kind, title]), it.kind);
    fill(at("layer"), count(n_layers, "L"), String(it.layer));
    fill(at("head"), count(n_heads, "H"), String(it.head));
    fill(at("tokens"), words.tokens, it.isWords ? "words" : "pieces");
    fill(at("special"), words.special, it.special);
    at("experiment").setAttribute("aria-pressed", String(it.tool !== "look"));
    radios(at("picture"), words.pictures.filter(([name]) => LARGE[name] in components), it.picture, (picture) => choose({ picture }));
    radios(at("tool"), words.tools, it.tool, (tool) => choose({ tool }));
    const elsewhere = Object.entries(page.unknown).map(([name, value]) => `${name}=${value}`);
    if (screens.valueOf(page.screen, "page") !== it.page) elsewhere.unshift(`page=${page.screen.page}`);
    at("elsewhere").hidden = !elsewhere.length;
    at("elsewhere").textContent = elsewhere.length ? filled(words.elsewhere, { what: elsewhere.join(", "), address: readAddress() }) : "";
  }

  const count = (n, letter) => Array.from({ length: n }, (_, i) => [String(i), `${letter}${i}`]);

  function fill(select, options, value) {
    const key = JSON.stringify(options);
    if (select.dataset.options !== key) {
      select.dataset.options = key;
      select.replaceChildren(...options.map(([name, title]) => Object.assign(element("option", "", title), { value: name })));
    }
    select.value = value;
  }

  function radios(node, options, value, choose) {
    if (node.childElementCount !== options.length) {
      const buttons = options.map(([name, title]) => {
        const button = Object.assign(element("button", "", title), { type: "button", onclick: () => choose(name) });
        button.setAttribute("role", "radio");
        button.dataset.name = name;
        return button;
      });
      node.replaceChildren(...buttons);
      node.onkeydown = ({ key }) => {
        const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
        const next = by && [...node.children].at((buttons.indexOf(document.activeElement) + by) % buttons.length);
        next?.focus();
        next?.click();
      };
    }
    for (const button of node.children) {
      button.setAttribute("aria-checked", String(button.dataset.name === value));
      button.tabIndex = button.dataset.name === value ? 0 : -1;
    }
  }

  function listen() {
    const typed = () => choose({ text: at("text").value });
    at("text").oninput = ({ isComposing }) => isComposing || typed();
    at("text").oncompositionend = typed;
    document.querySelector("form").onsubmit = (event) => event.preventDefault();
    at("example").onchange = ({ target }) => {
      page.isOther = true;
      choose({ text: target.value }, true);
    };
    const select = { checkpoint: "checkpoint", decoding: "decoding", layer: "layer", head: "head", tokens: "tokens", special: "special" };
    for (const [id, name] of Object.entries(select)) at(id).onchange = ({ target }) => choose({ ...(id === "layer" || id === "head" ? headOf() : {}), [name]: target.value }, true);
    at("kind").onchange = ({ target }) => acts.open([target.value, 0, 0], chosen());
    at("experiment").onclick = () => choose({ tool: chosen().tool === "look" ? "heads" : null });
    for (const button of document.querySelectorAll("nav button")) button.onclick = () => choose({ page: button.dataset.page }, true);
    at("more").onclick = () => setMore(document.documentElement.dataset.more !== "known");
    at("copy").onclick = async () => {
      await navigator.clipboard?.writeText(location.href).catch(() => {});
      at("copy").textContent = words.copied;
      setTimeout(() => (at("copy").textContent = words.copy), 2000);
    };
    window.addEventListener("popstate", opens);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  }

  const headOf = () => {
    const { kind, layer, head } = chosen();
    return { kind, layer: String(layer), head: String(head) };
  };

  function setMore(isOpen) {
    if (isOpen) document.documentElement.dataset.more = "known";
    else delete document.documentElement.dataset.more;
    at("more").setAttribute("aria-expanded", String(isOpen));
    try {
      localStorage.setItem("headscope:more", isOpen ? "known" : "");
    } catch {
      // it is not remembered here
    }
  }

  function opens() {
    Object.assign(page, { ...readScreen(), opened: page.opened + 1, isOther: true });
    refresh();
  }

  function readScreen() {
    const { screen, unknown } = screens.parse(readAddress());
    return { screen, unknown };
  }

  function paint() {
    theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    document.documentElement.style.cssText = `${content.variables[theme]}; color-scheme: ${theme}`;
    document.body.style.background = themes[theme].palette.background;
    if (page.shown.size) showAll(chosen());
  }

  // What a script asks, as `window.headscope.answer`.
  function send(request) {
    const n = ++asked;
    worker.postMessage({ what: "say", n, ...request });
    return new Promise((resolve, reject) => said.set(n, { resolve, reject }));
  }

  worker.onmessage = ({ data }) => {
    const { what, n } = data;
    if (what === "answered") answered(data);
    else if (what === "said") settleSaid(n, ({ resolve }) => resolve(data.answer));
    else if (what === "failed" && data.of === "say") settleSaid(n, ({ reject }) => reject(new Error(data.sentence)));
    else if (what === "failed" && data.of === "answer") failed(data.sentence);
    else loads.hear(data);
  };
  worker.onerror = (event) => loads.hear({ what: "failed", of: "open", sentence: event.message || words.no_worker });

  function settleSaid(n, act) {
    act(said.get(n));
    said.delete(n);
  }

  // What was shown stays, under the sentence that says what to change.
  function failed(sentence) {
    const { key, needed } = page.busy ?? {};
    page.busy = null;
    at("model").toggleAttribute("data-fault", true);
    at("model").querySelector("span").textContent = sentence;
    for (const [name, of] of needed ?? []) if (page.request === key) page.shown.set(name, { ...page.shown.get(name), key: JSON.stringify(of) });
    if (page.isWaiting) {
      page.isWaiting = false;
      refresh();
    }
  }

  let isReady;
  window.headscope = {
    ready: new Promise((resolve) => (isReady = resolve)),
    models: models.map(({ name }) => name),
    answer: async (text, { method, checkpoint = loads.openOne() ?? chosen().model.name, edits = [], prefix = [] } = {}) => {
      await loads.whenOpen(checkpoint);
      const { maps, shapes, ...answer } = await send({ text, method: method ?? names.get(checkpoint).methods[0][0], edits, prefix });
      return { ...answer, weights: (kind, layer) => ({ values: maps[kind][layer], shape: shapes[kind] }) };
    },
  };

  listen();
  paint();
  let more = null;
  try {
    more = localStorage.getItem("headscope:more");
  } catch {
    // nothing is remembered here
  }
  if (more) setMore(true);
  opens();
  loads.whenOpen(chosen().model.name).then(() => isReady(chosen().model.name));
}

const numbers = (text, separator) => (text && text !== "none" ? text.split(separator).map(Number) : []);

// kind -> side -> for each position its row or column, of a grid's payload.
function sidesOf(grid, before) {
  if (!grid) return before;
  const kinds = unpack(grid).arrays.map((bytes) => unpack(bytes).header);
  return Object.fromEntries(kinds.map(({ kind, sides }) => [kind, sides]));
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
