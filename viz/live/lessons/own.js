// A scene about a sentence of the learner's own: a model answers it in the browser, and its worker
// makes the sheets of the tasks. The weights are fetched once somebody types there.

import { element } from "../../components/kit/page.js";
import { createModels, filled } from "../page/models.js";

const MOST_TEXT = 500; // characters of a sentence
const shared = { loads: new Map(), worker: null }; // of all scenes of the page

// part: the scene, with `own`: what Python says of it. taken(part, sheets): there is something to
// ask. Returns { node, isAsked() }.
export function createOwn(content, code, part, kept, taken) {
  const { own, number } = part;
  const node = element("div", "own");
  if (!own.model) {
    node.append(element("p", "dim", own.refused));
    return { node, isAsked: () => false };
  }
  const { words } = content;
  const form = element("form", "typed");
  const field = element("input");
  Object.assign(field, { placeholder: words.own_sentence, maxLength: MOST_TEXT, autocomplete: "off", spellcheck: false, enterKeyHint: "done" });
  field.setAttribute("aria-label", words.own_sentence);
  form.append(field, element("button", "", words.enter));
  const says = element("p", "dim says");
  const line = element("p", "dim model");
  line.role = "status";
  line.append(element("span"), " ", element("progress"), " ", element("button", "plain"));
  line.hidden = true;
  const model = content.models.find(({ name }) => name === own.model);
  says.textContent = filled(words.comes, { model: own.model, of: (model.bytes / 1e6).toFixed(0) });
  node.append(form, says, line);

  const before = kept.of().own[number];
  if (before) {
    field.value = before.text;
    says.textContent = before.says;
    queueMicrotask(() => taken(part, before.sheets));
  }
  const loads = () => loadsOf(content, code, own.model, line);
  field.oninput = () => attempt(loads);
  form.onsubmit = async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (!text) {
      says.textContent = words.once_entered;
      return;
    }
    says.textContent = words.thinking;
    await attempt(async () => {
      const found = await loads().study(text, own);
      if (text !== field.value.trim()) return;
      says.textContent = found.why || saidOf(words, found.written);
      if (found.why) return;
      const sheets = found.sheets.map((sheet, i) => ({ ...sheet, code: `${content.name} ${number} ${i} ${text}` }));
      kept.note({ own: { ...kept.of().own, [number]: { text, says: says.textContent, sheets } } });
      taken(part, sheets);
    });
  };

  // What cannot be done is said in the place of what the model wrote.
  async function attempt(act) {
    try {
      await act();
    } catch ({ message }) {
      says.textContent = message;
    }
  }

  // Where the page beside it shows the same sentence, and the same row's head.
  function address() {
    const [kind, layer, head] = part.tasks[0].row.split(" ");
    const { text } = kept.of().own[number];
    const of = { checkpoint: own.model, text, decoding: own.method, ...(kind && { kind, layer, head }) };
    return `../?${new URLSearchParams(of)}`;
  }

  return { node, isAsked: () => true, address };
}

function saidOf({ writes }, written) {
  return written ? `${filled(writes, { text: written })}${written.endsWith(".") ? "" : "."}` : "";
}

// The one model of this name in this page, which is asked one thing after the other.
function loadsOf({ models, words }, code, name, line) {
  line.hidden = false;
  if (shared.loads.has(name)) return shared.loads.get(name);
  shared.worker?.terminate();
  shared.loads.clear();
  const script = new Blob([code], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(script));
  shared.worker = worker;
  const waiting = new Map();
  let asked = 0;
  const base = new URL("../", document.baseURI).href;
  const those = models.filter((each) => each.name === name);
  const loads = createModels(those, worker, base, line, words.models, () => loads.choose(name));
  worker.onmessage = ({ data }) => {
    if (loads.hears(data)) loads.hear(data);
    else if (data.what === "studied") waiting.get(data.n)?.resolve(data.value);
    else if (data.what === "failed") waiting.get(data.n)?.reject(new Error(data.sentence));
  };
  worker.onerror = ({ message }) => loads.refuse(message || words.models.no_worker);
  loads.choose(name);
  const own = {
    async study(text, { method, of }) {
      await loads.whenOpen(name);
      const request = { text, method, edits: [], prefix: [] };
      const n = ++asked;
      worker.postMessage({ what: "study", n, study: "tasks", request, of });
      return new Promise((resolve, reject) => waiting.set(n, { resolve, reject }));
    },
  };
  shared.loads.set(name, own);
  return own;
}
