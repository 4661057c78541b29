// A page whose reader types into its pictures: one worker for all of them, and the line that says who
// answers. What was recorded is shown first, for its own text, and wherever no engine runs.

import { element } from "../../components/kit/page.js";
import { createAnswers } from "../page/answers.js";
import { joined } from "../page/address.js";
import { createModels, filled } from "../page/models.js";
import { unpack } from "../../components/kit/unpack.js";
import { envelope, pack } from "../payloads/pack.js";

// site: { models, words, base }: the model of the page. code: the worker's. line: the node that says
// who answers. Returns `alive` below; null: no engine runs here.
export default function typing({ models, words, base }, code, line) {
  const [{ name }] = models;
  const asked = new Map(); // number -> who asked, and by which number of its own
  const own = { n: 0, refresh: () => {} };
  const [text, bar, button] = ["span", "progress", "button"].map((tag) => element(tag));
  bar.hidden = button.hidden = true;
  button.type = "button";
  line.replaceChildren(text, " ", bar, " ", button);
  const worker = workerOf(code);
  text.textContent = filled(worker ? words.still : words.no_worker, { model: name });
  if (!worker) return null;

  const refresh = () => own.refresh();
  const at = base ? new URL(base, document.baseURI).href : ""; // else all files are in the page
  const loads = createModels(models, worker, at, line, words, refresh);
  worker.onerror = ({ message }) => loads.refuse(message || words.no_worker);
  worker.onmessage = ({ data }) => {
    if (loads.hears(data)) return loads.hear(data);
    const [hear, n] = asked.get(data.n);
    if (data.what !== "growing") asked.delete(data.n); // a study tells more than once
    hear({ ...data, n });
  };

  // scene: { text, written, method, options, prefix, edits, kept, pictures, states }; pictures: [[name,
  // what its payload is made of], ...]; states: name -> theme -> what stands around a payload. host:
  // where the field is drawn. draw(name, data): a picture as it is answered, data(theme) its bytes;
  // null: as it was recorded. Returns { show(), leave(), hear(what, value) }: the scene is looked at
  // from now on, and no more; somebody touched a picture of it, true: so that it is answered anew.
  return function alive(scene, host, draw) {
    const pictures = new Map(scene.pictures);
    const over = {}; // name -> what was chosen since in its state
    const cell = { of: "", place: null };
    const { card = null } = scene; // of a written word: { word, kind, reading, theme, palettes }
    const answers = createAnswers({ postMessage: post }, [], refresh, loads.refuse);
    const field = fieldOf(scene, words);
    const output = element("output");
    output.dir = "auto";
    host.replaceChildren(field, output);

    function post(message) {
      asked.set(++own.n, [answers.hear, message.n]);
      worker.postMessage({ ...message, n: own.n });
    }

    const isOwn = () => field.value === scene.text;
    // What was recorded is in Python's own numbers.
    const isRecorded = () => isOwn() && !Object.keys(over).length && !cell.of && !card?.isOther;

    function request() {
      const { method, options, edits, kept, prefix } = scene;
      const ofText = isOwn() ? { edits, prefix } : { edits: kept, prefix: [] };
      return { text: field.value, method, options, ...ofText, edits: joined(ofText.edits) };
    }

    function needed() {
      const place = (of) => (cell.of === field.value ? cell.place : isOwn() ? of.cell : null);
      return [...pictures].map(([each, of]) => [each, "cell" in of ? { ...of, cell: place(of) } : of]);
    }

    function show() {
      own.refresh = show;
      if (isRecorded()) {
        answers.forget();
        for (const each of pictures.keys()) draw(each, null);
        if (card) draw("word_card", null);
        write(scene.written);
        return;
      }
      const now = loads.openOne();
      if (!now || !field.value.trim()) return;
      answers.ask(request(), [...needed(), ...cardsOf(now)], now);
      if (!answers.facts()) return;
      for (const each of pictures.keys()) {
        const payload = answers.shown(each)?.payload;
        if (payload) draw(each, (theme) => envelope(payload, scene.states[each][theme], over[each]));
      }
      if (card) drawCard();
      write(answers.output());
    }

    // What each word needs is known once nobody types; then the cards of all of them are asked for.
    function cardsOf(now) {
      const of = answers.shown("token_rows")?.nonce;
      const isKnown = card && answers.studyOf("evidence", request(), now);
      const { kind, reading, theme } = card ?? {};
      return isKnown && of ? [["word_card", { of, theme, kind, reading }]] : [];
    }

    // Of another text its card is of the word at the same place.
    function drawCard() {
      const payload = answers.shown("word_card")?.payload;
      const all = payload && unpack(payload).header;
      if (!all || all.of !== answers.shown("token_rows").nonce) return;
      const pinned = card.position === undefined ? undefined : all.opens[all.rows[card.position]];
      const elements = all.cards[pinned ?? Math.min(card.word, all.cards.length - 1)];
      const content = pack({ card: [all.style, ...elements] });
      const state = { of: all.of, pins: [] };
      draw("word_card", (theme) => envelope(content, { palette: card.palettes[theme] }, state));
    }

    function write(written) {
      output.textContent = written ? ` → ${written}` : "";
    }

    function change() {
      loads.choose(name);
      loads.refuse(field.value.trim() ? "" : words.empty);
      show();
    }

    // A head of a grid is shown by the pictures beside it; a cell from inside; a word by its card.
    function hear(what, value) {
      if (what === "pin" && card && value.side === "target") {
        Object.assign(card, { isOther: true, position: value.position });
      } else if (what === "cell" && pictures.has("cell_steps")) {
        if (isRecorded()) return false; // Python's answers are here
        Object.assign(cell, { of: field.value, place: value });
      } else if (what === "open" && pictures.size > 1) {
        const [kind, layer, head] = value;
        for (const [each, of] of pictures) {
          if ("kind" in of) pictures.set(each, { ...of, kind, layer, ...("head" in of && { head }) });
        }
        over.head_view = { head, heads: [head] };
        over.head_grid = { selected: value };
      } else return false;
      change();
      return true;
    }

    const type = () => {
      if (card) delete card.position; // it was of the text before
      change();
    };
    field.oninput = ({ isComposing }) => isComposing || type();
    field.oncompositionend = type;
    field.onfocus = () => loads.choose(name); // it is here by the time that something is typed
    const leave = () => (own.refresh = () => {});
    return { show, hear, leave };
  };
}

function workerOf(code) {
  try {
    return new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })));
  } catch {
    return null;
  }
}

function fieldOf({ text }, words) {
  const field = element("input");
  field.value = text;
  field.ariaLabel = words.sentence;
  field.placeholder = words.placeholder;
  field.spellcheck = false;
  field.autocomplete = "off";
  field.addEventListener("keydown", ({ key }) => key === "Escape" && field.blur());
  return field;
}
