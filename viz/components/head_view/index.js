// One layer's heads as lines between two columns of tokens. All of it happens in the browser.

const REST = 300; // ms without a change until the server hears of it
const BOX = 560; // px; longer columns scroll
const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".head-view");
  if (!views.has(root)) views.set(root, create(root));
  const view = views.get(root);
  view.send = (state) => setTriggerValue("view", state);
  view.drafts.give(data);
  return () => {
    view.dispose();
    views.delete(root);
    root.replaceChildren();
  };
}

function create(root) {
  const view = { root, heads: [], pins: [], hovered: null, linked: [], sent: [], layers: new Map() };
  view.controls = createControls({
    heads: (heads) => change(view, { heads }),
    lines: () => redraw(view),
  });
  view.tokens = createTokens({
    point: (id) => point(view, id),
    pin: (id) => change(view, { pins: toggled(view.pins, id) }),
  });
  view.titles = [element("div"), element("div"), element("div")];
  view.wires = element("div", "wires");
  view.wires.setAttribute("role", "img");
  [view.base, view.overlay] = [element("canvas", "base"), element("canvas", "overlay")];
  view.wires.append(view.base, view.overlay);
  view.stage = element("div", "stage");
  view.stage.append(view.tokens.rows, view.wires, view.tokens.columns);
  view.box = element("div", "box");
  view.box.append(view.stage);
  view.readout = element("div", "readout");
  view.legend = element("div", "legend dim");
  view.spoken = element("div", "hidden-text");
  view.spoken.setAttribute("aria-live", "polite");
  const titles = element("div", "titles dim");
  titles.append(...view.titles);
  root.replaceChildren(
    view.controls.bar, titles, view.box, view.readout, view.legend, view.spoken,
  );
  root.onkeydown = (event) => onKey(view, event);
  view.box.onscroll = () => scrolled(view);
  const observer = new ResizeObserver(() => resize(view));
  observer.observe(view.wires);
  const silence = onToken((token) => link(view, token));
  view.drafts = withDrafts("head_view", (bytes) => update(view, openEnvelope(bytes)));
  view.dispose = () => {
    observer.disconnect();
    silence();
    view.drafts.end();
    clearTimeout(view.timer);
    clearTimeout(view.rest);
    cancelAnimationFrame(view.wording);
  };
  return view;
}

function update(view, { nonce, palette, ink, colours, head, heads, pins, payload }) {
  const drawn = `${nonce} ${palette.name}`;
  const text = view.map?.header.text;
  Object.assign(view, { head, ink, colours });
  const isNew = drawn !== view.drawn;
  if (isNew) {
    Object.assign(view, { drawn, nonce, map: openMap(payload), hovered: null, linked: [] });
    applyPalette(view.root, palette);
    arrangeControls(view.controls, view.map);
  }
  const isOther = view.map.header.text !== text;
  if (isOther) arrange(view);
  const served = JSON.stringify({ heads, pins });
  if (isOther || !answered(view, served)) {
    clearTimeout(view.timer); // a change of what was there before
    if (isOther) view.sent = [];
    adopt(view, heads, pins);
  }
  view.served = served;
  if (isOther && view.pins.length) showPin(view, view.pins.at(-1));
  resize(view);
  redraw(view);
}

// Whether the server only repeats what it knew or what it was sent: then the browser, which may
// have moved on since, is right.
function answered(view, served) {
  const at = view.sent.indexOf(served);
  if (at >= 0) view.sent.splice(0, at + 1);
  return at >= 0 || served === view.served;
}

// Only what there is: a head or a token may be of another model or sentence.
function adopt(view, heads, pins) {
  view.heads = [...new Set(heads)].sort((a, b) => a - b);
  view.pins = [...new Set(pins)].filter((id) => /^[qk]\d+$/.test(id) && nodeOf(view.tokens, id));
}

function change(view, changed) {
  Object.assign(view, changed);
  redraw(view);
  clearTimeout(view.timer);
  view.timer = setTimeout(() => {
    const state = { heads: view.heads, pins: view.pins };
    const told = JSON.stringify(state);
    if (told === (view.sent.at(-1) ?? view.served)) return;
    view.sent.push(told);
    view.send(state);
  }, REST);
}

// Scrolls the box, and nothing else of the page, to a token.
function showPin(view, id) {
  view.box.scrollTop = openToken(id).place * view.pitch - BOX / 2;
}

function toggled(list, id) {
  return list.includes(id) ? list.filter((other) => other !== id) : [...list, id];
}

// The tokens and titles of a text; the picture's size follows from their number.
function arrange(view) {
  const { header, nRows, nColumns } = view.map;
  const n = Math.max(nRows, nColumns);
  const pitch = Math.max(16, Math.min(26, Math.floor(396 / n)));
  view.pitch = pitch;
  view.stage.style.setProperty("--pitch", `${pitch}px`);
  view.stage.style.setProperty("--height", `${Math.min(BOX, n * pitch)}px`);
  view.stage.style.setProperty("--type", `${pitch > 21 ? 14 : pitch > 16 ? 13 : 12}px`);
  arrangeTokens(view.tokens, header);
  view.titles[0].textContent = header.produced ? "query: token written" : "query";
  view.titles[2].textContent = "key";
  view.names = { rows: namesOf(header.sides.rows), columns: namesOf(header.sides.columns) };
}

// Row or column -> [side, position] of the first token that it belongs to.
function namesOf(places) {
  const names = [];
  for (const [side, numbers] of Object.entries(places)) {
    numbers.forEach((number, position) => {
      if (number >= 0) names[number] ??= [side, position];
    });
  }
  return names;
}

// The heads that can be shown; a map of a whole layer stands for every head.
function shown({ map, heads }) {
  return map.header.per_head ? heads.filter((head) => head < map.nHeads) : [0];
}

function colourOf(view, head) {
  return shown(view).length === 1 && shown(view)[0] === head
    ? view.ink
    : view.colours[head % view.colours.length];
}

// A head's mark: its number on its colour; none where only one is shown.
function badge(view, head) {
  if (shown(view).length === 1) return null;
  const colour = colourOf(view, head);
  const light = luminance(channels(colour));
  const node = element("span", "badge", String(head));
  node.style.background = colour;
  node.style.color = contrast(light, 0) > contrast(light, 1) ? "#000" : "#fff";
  return node;
}

function redraw(view) {
  const start = performance.now();
  const heads = shown(view);
  view.strongest = strongestOf(view, heads);
  markHeads(view.controls, heads, view.head, (head) => colourOf(view, head));
  markPins(view.tokens, view.pins);
  view.root.dataset.heads = heads.join();
  view.root.dataset.pins = view.pins.join();
  drawBase(view);
  isolateTokens(view);
  view.root.dataset.drawMs = (performance.now() - start).toFixed(2);
}

// Pointed at, here or elsewhere: its lines stand out. Null: the pointer has left.
function point(view, id) {
  if (id === view.hovered) return;
  const start = performance.now();
  const before = nameOf(view, view.hovered);
  view.hovered = id;
  isolateTokens(view);
  view.root.dataset.hoverMs = (performance.now() - start).toFixed(2);
  const name = nameOf(view, id);
  view.announcing = true;
  if (name) announceToken(...name);
  else if (before) announceToken(before[0], null);
  view.announcing = false;
}

function nameOf(view, id) {
  if (!id) return undefined;
  const { isRow, place } = openToken(id);
  return view.names[isRow ? "rows" : "columns"][place];
}

// A token pointed at in another picture.
function link(view, { side, position }) {
  if (view.announcing || !view.map) return;
  const { rows, columns } = view.map.header.sides;
  const [row, column] = [rows[side]?.[position] ?? -1, columns[side]?.[position] ?? -1];
  view.linked = [...(row < 0 ? [] : [`q${row}`]), ...(column < 0 ? [] : [`k${column}`])];
  isolateTokens(view);
}

// The lines of the tokens that are pinned or pointed at; all others step back.
function isolateTokens(view) {
  const active = [...new Set([...view.pins, ...view.linked, view.hovered ?? []].flat())];
  const heads = shown(view);
  view.stage.classList.toggle("isolated", active.length > 0);
  markActive(view.tokens, active, view.linked);
  // Words follow a frame later: lines are what a moving pointer waits for.
  cancelAnimationFrame(view.wording);
  view.wording = requestAnimationFrame(() => putIntoWords(view, heads));
  if (!view.paint) return;
  const context = view.overlay.getContext("2d");
  if (!active.length) return context.clearRect(0, 0, view.base.width, view.base.height);
  const each = Math.floor(MAX_POINTED / Math.max(1, heads.length));
  for (const head of heads) paintHead(view, head, linesAt(view.map, head, active, each));
  context.putImageData(developed(view.paint), 0, 0);
}

// Labels beside the tokens, the lines of text below, and what is spoken.
function putIntoWords(view, heads) {
  const id = view.hovered ?? view.pins.at(-1);
  const found = id && heads.length ? strongestAt(view.map, heads, id) : [];
  labelTokens(view.tokens, found, (head) => badge(view, head));
  read(view, view.hovered ? [view.hovered] : view.pins.slice(-N_READ), heads);
  view.spoken.textContent = view.hovered ? spokenOf(view, view.hovered) : "";
  const told = `${view.drawn} ${heads} ${view.controls.lines.value}`;
  if (told === view.told) return;
  view.told = told;
  explain(view, heads);
  view.wires.setAttribute("aria-label", sentenceOf(view, heads));
}

function onKey(view, event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
  if (event.target.closest("select")) return;
  if (event.key === "Escape" && view.pins.length) change(view, { pins: [] });
  else if (!onDigit(view.controls, event)) return;
  event.preventDefault();
  event.stopPropagation();
}
