// Which model answers: the smallest at once, the one that is chosen as soon as it is here.

const NARROW = 700; // px of a window below which nobody is sent a large model unasked
const LARGE = 10e6; // bytes of such a model
const SLOW = 4; // Mbit/s below which likewise: 30 MB take a minute

// models: [{ name, bytes, files, config, tables }], the first one that of the page. node: the line that
// says which one answers. words: its sentences. changed(): another one is open.
export function createModels(models, worker, base, node, words, changed) {
  const [text, bar, button] = ["span", "progress", "button"].map((tag) => node.querySelector(tag));
  const by = new Map(models.map((model) => [model.name, model]));
  // The smallest that answers the same texts, where it is soon here and the model itself is not.
  const smallestFor = (name) => {
    const own = by.get(name);
    const alike = models.filter((model) => standsIn(model, own));
    const least = alike.reduce((a, b) => (b.bytes < a.bytes ? b : a));
    return least.bytes < own.bytes / 2 ? least.name : name;
  };
  const own = { open: null, coming: null, next: null, chosen: null, have: 0, fault: "", asked: "" };
  Object.assign(own, { refused: "", shows: "", instead: "" });
  const second = { name: null, isOpen: false, have: 0, fault: "", isHeld: false }; // of B, on Compare
  let settle;
  const ready = new Promise((go) => (settle = go));
  const waiting = []; // [name, what is called once it is open]

  function open(name) {
    if (own.open === name || own.coming === name) return;
    Object.assign(own, { coming: name, have: 0, fault: "", asked: name });
    worker.postMessage({ what: "open", name, ...givenOf(name), base });
    say();
  }

  function givenOf(name) {
    const { files, config, tables } = by.get(name);
    const isLast = models.length === 1; // else it may be chosen once more
    const given = Object.entries(files).map(([file, of]) => [file, textOf(of, isLast)]);
    return { files: Object.fromEntries(given), config, tables };
  }

  // Begins with what is soon here. A large model is not sent to a phone unasked.
  function choose(name) {
    const isNew = own.chosen !== name;
    own.chosen = name;
    if (isNew && own.open !== name) {
      const smallest = smallestFor(name);
      const isBehind = !openOne() && name !== smallest;
      if (isBehind) own.next = isSparing() ? null : name;
      open(isBehind ? smallest : name);
    } else say();
  }

  // The model that is open, where it answers what the chosen one is asked.
  function openOne() {
    return own.open && (!own.chosen || standsIn(by.get(own.open), by.get(own.chosen))) ? own.open : null;
  }

  // The model of B on Compare, null for none: whether it is open.
  function beside(name) {
    if (name === second.name) return second.isOpen;
    Object.assign(second, { name, isOpen: false, have: 0, fault: "", isHeld: false });
    if (name === null) worker.postMessage({ what: "close" });
    else if (isSparing() && by.get(name).bytes > LARGE) second.isHeld = true;
    else sendSecond();
    return false;
  }

  function sendSecond() {
    Object.assign(second, { isHeld: false, fault: "" });
    const { name } = second;
    worker.postMessage({ what: "open", place: "second", name, ...givenOf(name), base });
  }

  // What is said while B is not there: { text, button, send }; button: the text of what has it sent.
  function besideSays() {
    const { name, isOpen, isHeld, have, fault } = second;
    if (!name || isOpen) return { text: "", button: "" };
    const values = { chosen: name, coming: name, have: mb(have), of: mb(by.get(name).bytes) };
    const offer = isHeld ? filled(words.fetch, values) : fault && words.again;
    const send = () => {
      sendSecond();
      changed();
    };
    return { text: isHeld ? "" : fault || filled(words.beside, values), button: offer, send };
  }

  function hearSecond({ what, name, have, sentence }) {
    if (name !== second.name) return;
    if (what === "progress") second.have = have;
    if (what === "failed") second.fault = sentence;
    second.isOpen ||= what === "opened";
    changed();
  }

  const hears = ({ what, of }) => ["progress", "opened"].includes(what) || of === "open";

  function hear({ what, place, name, have, sentence }) {
    if (place === "second") return hearSecond({ what, name, have, sentence });
    if (what === "progress" && name === own.coming) own.have = have;
    if (what === "failed" && name === own.coming) Object.assign(own, { coming: null, fault: sentence });
    if (what !== "opened") return say();
    const isLast = name === own.coming;
    own.open = name;
    if (isLast) own.coming = null;
    const { next } = own;
    own.next = null;
    if (next && next !== name) open(next);
    else settle(name); // no other one comes by itself
    for (const [of, go] of waiting) if (of === name) go();
    changed();
  }

  // A text could not be answered: the sentence stands until another one is, which says "".
  function refuse(sentence) {
    own.refused = sentence;
    say();
  }

  // what: "recorded" where an example is shown as Python had it, "waits" where nothing can answer yet.
  function show(what) {
    own.shows = what;
    say();
  }

  function say() {
    const { coming, chosen, fault, have, refused } = own;
    if (own.instead) return tell(refused || own.instead, Boolean(refused));
    const now = openOne();
    const wanted = by.get(coming ?? chosen);
    const values = { model: now ?? coming ?? chosen, chosen, coming, fault };
    Object.assign(values, { have: mb(have), of: mb(wanted.bytes) });
    text.textContent = refused || filled(statement(), values);
    node.toggleAttribute("data-fault", Boolean(fault || refused));
    node.dataset.open = now ?? "";
    bar.hidden = !coming;
    if (coming) Object.assign(bar, { max: wanted.bytes, value: have });
    button.hidden = Boolean(coming) || now === chosen;
    button.textContent = filled(fault ? words.again : words.fetch, values);
    button.onclick = () => open(fault ? own.asked : chosen);
  }

  // sentence: of what is shown in the place of a model's answer; "": a model answers.
  function showInstead(sentence) {
    if (own.instead !== sentence) Object.assign(own, { instead: sentence, refused: "" });
    if (sentence) say();
  }

  function tell(sentence, isFault) {
    text.textContent = sentence;
    node.toggleAttribute("data-fault", isFault);
    node.dataset.open = "";
    bar.hidden = button.hidden = true;
  }

  function statement() {
    const { coming, chosen, fault, shows } = own;
    const now = openOne();
    if (fault) return now ? words.behind : words.failed;
    if (shows === "waits" && coming) return words.waits;
    if (shows === "recorded" && now && !coming) return words.recorded;
    if (coming) return now ? words.until : words.coming;
    return now === chosen ? words.answers : words.other;
  }

  // Done when this model is open.
  function whenOpen(name) {
    if (own.open === name) return Promise.resolve(name);
    if (name !== own.chosen) open(name);
    return new Promise((go) => waiting.push([name, () => go(name)]));
  }

  return { choose, hears, hear, refuse, show, showInstead, whenOpen, ready, openOne, beside, besideSays };
}

// Whether a model reads what another one does, and has the same kinds of attention.
export function standsIn(model, { reads, config, kinds }) {
  const isAlike = model.reads === reads && model.config.tokenizer === config.tokenizer;
  return isAlike && Object.keys(model.kinds).join() === Object.keys(kinds).join();
}

function isSparing() {
  const { saveData, effectiveType = "4g", downlink = SLOW } = navigator.connection ?? {};
  return window.innerWidth < NARROW || saveData || effectiveType !== "4g" || downlink < SLOW;
}

// A file in the page: its text in base64, or the element that holds it, which isLast lets go.
function textOf(file, isLast) {
  if (!file.element) return file;
  const element = document.getElementById(file.element);
  const text = element.textContent;
  if (isLast) element.remove();
  return text;
}

const mb = (bytes) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

// A sentence from Python: "{name}" stands for a value.
export const filled = (sentence, values) =>
  sentence.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
