// What the worker is asked, and what of its answers is shown. Of texts that were typed meanwhile only
// the newest is asked for; what is shown stays until something newer is there.

import { unpack } from "../../components/kit/unpack.js";
import { listed } from "./address.js";

const REST = 400; // ms without a letter until what nobody has asked for is asked for
const MOST_STUDIES = 40; // that are kept

// recorded: examples' first pictures, which Python made when the page was built. changed(): something
// new is to be shown. failed(sentence): a text could not be answered.
export function createAnswers(worker, recorded, changed, failed) {
  const own = { request: "", shown: new Map(), facts: null, sides: null, busy: null };
  const studies = new Map(); // study and request -> what it found; null: it is not known yet
  let [rest, pending, studied] = [0, "", null]; // pending: the request that a study waits for
  const plain = new Map(); // of texts with edits: the words without them
  const said = new Map(); // number -> who waits for it
  let [asked, isWaiting] = [0, false];

  // it: what is chosen; needed: [name, what it is made of] of each picture; open: the model that is.
  function ask(it, needed, open) {
    const { text, method, prefix, options } = it;
    const file = it.model?.file; // a figure of one checkpoint has no list of models
    const request = { text, method, prefix, options, edits: listed(it.edits), b: it.b?.request, file };
    const key = JSON.stringify([open, request]);
    const isHere = ([name, of]) => own.shown.get(name)?.of === JSON.stringify(of);
    const missing = own.request === key ? needed.filter((each) => !isHere(each)) : needed;
    if (!missing.length || !text.trim()) return;
    clearTimeout(rest);
    pending = "";
    if (own.busy) {
      isWaiting = true;
      return;
    }
    own.busy = { n: ++asked, key, missing, begun: performance.now() };
    const pictures = Object.fromEntries(missing);
    worker.postMessage({ what: "answer", n: asked, ...request, pictures });
    if (it.edits) askPlain({ text, method, prefix }, open);
  }

  // Asks for a study of what is shown once nobody types; returns what it found, as far as it is known,
  // with isGrowing while it is not whole. of: how a study that grows shows its value, if it does.
  function studyOf(study, it, open, of = null) {
    const { text, method, prefix, options } = it;
    const request = { text, method, prefix, options, edits: listed(it.edits) };
    const key = JSON.stringify([open, request]);
    if (own.request !== key) return undefined;
    const [sort, value] = [`${study} ${key}`, studies.get(`${study} ${key} ${JSON.stringify(of)}`)];
    const name = `${sort} ${JSON.stringify(of)}`;
    const begin = () => {
      clearTimeout(rest);
      pending = "";
      studied = { n: ++asked, name };
      worker.postMessage({ what: "study", n: asked, study, request: { ...request, of } });
    };
    const isAtWork = studied?.name === name;
    if ((studies.has(name) && !value?.isGrowing) || own.busy || isAtWork) return value;
    // What is asked for first is studied first: what words need comes before what may be offered.
    const isShownOtherwise = [...studies.keys()].some((each) => each.startsWith(`${sort} `));
    if (of && isShownOtherwise && (!studied || studied.name.startsWith(sort))) begin();
    else if (!studied && pending !== key) {
      clearTimeout(rest);
      pending = key;
      rest = setTimeout(begin, REST);
    }
    return value;
  }

  // Ends a study that is at work, or waits: what is known of it stays.
  function stopStudy() {
    clearTimeout(rest);
    pending = "";
    worker.postMessage({ what: "stop" });
  }

  function keepStudy({ n, value, isDropped, isGrowing }) {
    if (studied?.n !== n) return;
    if (!isDropped) studies.set(studied.name, isGrowing ? { ...value, isGrowing } : value);
    if (studies.size > MOST_STUDIES) studies.delete(studies.keys().next().value);
    if (!isGrowing) studied = null;
    changed();
  }

  // What is written without the edits, to stand beside what is written with them.
  function askPlain(request, open) {
    const key = JSON.stringify([open, request]);
    if (plain.has(key)) return;
    plain.set(key, null);
    send({ ...request, edits: [] }).then(({ words }) => {
      plain.set(key, words);
      changed();
    });
  }

  // The words without the edits and with them; null: not both are known.
  function outcome({ text, method, prefix, edits }, open) {
    const before = plain.get(JSON.stringify([open, { text, method, prefix }]));
    const request = { text, method, prefix, edits: listed(edits) };
    const isShown = own.request === JSON.stringify([open, request]);
    return before && isShown && own.facts ? { before, after: own.facts.words } : null;
  }

  // An example's first picture: nobody waits for it, and no smaller model takes its place.
  function recordedOf({ model, text, edits, prefix, method }) {
    if (edits || prefix.length || method !== model.methods[0]?.[0]) return null;
    return recorded.find((each) => each.checkpoint === model.name && each.text === text) ?? null;
  }

  function showRecorded({ checkpoint, text, pictures, output }) {
    const key = `${checkpoint} ${text}`;
    if (own.request === key) return;
    Object.assign(own, { request: key, shown: new Map() });
    for (const [name, { payload, nonce }] of Object.entries(pictures)) {
      own.shown.set(name, { of: "", payload: bytesOf(payload), nonce });
    }
    settle(output, null);
  }

  // What is shown is of a model that does not answer what is asked now.
  function forget() {
    own.shown.clear();
    Object.assign(own, { request: "", facts: null, sides: null });
  }

  function settle(output, facts) {
    Object.assign(own, { facts, output });
    const both = own.shown.get("comparison")?.payload; // Compare has no grid
    own.sides = both ? unpack(both).header.sides : (sidesOf(own.shown.get("head_grid")?.payload) ?? own.sides);
    document.documentElement.dataset.shown = output;
  }

  function hear({ what, n, sentence, answer, ...data }) {
    if (what === "answered") take(n, data);
    else if (what === "studied") keepStudy({ n, value: data.value });
    else if (what === "growing") keepStudy({ n, value: data.value, isGrowing: true });
    else if (what === "dropped" || data.of === "study") keepStudy({ n, isDropped: what === "dropped" });
    else if (what === "said") waiting(n).resolve(answer);
    else if (what === "failed" && said.has(n)) waiting(n).reject(new Error(sentence));
    else if (what === "failed") refuse(sentence);
  }

  function take(n, { payloads, output, facts, ms }) {
    const { key, missing, begun } = own.busy;
    if (own.request !== key) {
      own.shown.clear();
      own.ms = ms;
    }
    own.request = key;
    for (const [name, of] of missing) {
      const isMade = payloads[name] || name !== "word_card"; // else it is asked for once more
      if (isMade) own.shown.set(name, { of: JSON.stringify(of), ...payloads[name] });
    }
    settle(output, facts);
    failed("");
    goOn();
    const noted = () => {
      const painted = (performance.now() - begun).toFixed(1);
      Object.assign(document.documentElement.dataset, { answered: n, computed: ms.toFixed(1), painted });
    };
    requestAnimationFrame(() => setTimeout(noted));
  }

  // What was shown stays, under a sentence that says what to change.
  function refuse(sentence) {
    own.request = own.busy?.key ?? own.request; // it is not asked again
    for (const [name, of] of own.busy?.missing ?? []) {
      own.shown.set(name, { ...own.shown.get(name), of: JSON.stringify(of) });
    }
    failed(sentence);
    goOn();
  }

  function goOn() {
    own.busy = null;
    isWaiting = false;
    changed();
  }

  // What a script asks for, as `window.headscope.answer`.
  function send(request) {
    const n = ++asked;
    worker.postMessage({ what: "say", n, ...request });
    return new Promise((resolve, reject) => said.set(n, { resolve, reject }));
  }

  function waiting(n) {
    const who = said.get(n);
    said.delete(n);
    return who;
  }

  return {
    ask,
    outcome,
    recordedOf,
    showRecorded,
    forget,
    hear,
    send,
    studyOf,
    stopStudy,
    ms: () => own.ms,
    shown: (name) => own.shown.get(name),
    facts: () => own.facts,
    output: () => own.output,
    sides: () => own.sides,
    isWaiting: () => isWaiting,
  };
}

// kind -> side -> for each position its row or column, of a grid's payload; null: there is none.
function sidesOf(grid) {
  if (!grid) return null;
  const kinds = unpack(grid).arrays.map((bytes) => unpack(bytes).header);
  return Object.fromEntries(kinds.map(({ kind, sides }) => [kind, sides]));
}

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}
