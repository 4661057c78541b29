// Which model answers: the smallest at once, the one that is chosen as soon as it is here.

const NARROW = 700; // px of a window below which nobody is sent a large model unasked
const SLOW = 4; // Mbit/s below which likewise: 30 MB take a minute

// models: [{ name, label, bytes, files, config, tables }], the first one that of the page. worker: answers.
// node: the line that says which one answers. words: sentences from Python. changed(): another one is open.
export function createModels(models, worker, base, node, words, changed) {
  const [text, bar, button] = [node.querySelector("span"), node.querySelector("progress"), node.querySelector("button")];
  const by = new Map(models.map((model) => [model.name, model]));
  const smallest = models.reduce((a, b) => (b.bytes < a.bytes ? b : a)).name;
  const state = { open: null, coming: null, chosen: null, fault: "", waiting: new Map() };

  function open(name) {
    if (state.open === name || state.coming === name) return;
    const { files, config, tables } = by.get(name);
    Object.assign(state, { coming: name, fault: "", have: 0 });
    const kept = Object.fromEntries(Object.entries(files).map(([file, parts]) => [file, textOf(parts)]));
    worker.postMessage({ what: "open", name, files: kept, base, config, tables });
    say();
  }

  // Begins with what is soon here; a large model is not sent to a phone unasked.
  function choose(name) {
    state.chosen = name;
    if (state.open === name) return say();
    const isBehind = !state.open && name !== smallest;
    open(isBehind ? smallest : name);
    if (isBehind) state.next = isSparing() ? null : name;
  }

  function hear(data) {
    if (data.what === "progress" && data.name === state.coming) state.have = data.have;
    if (data.what === "opened") {
      Object.assign(state, { open: data.name, coming: null, have: 0 });
      const { next } = state;
      state.next = null;
      if (next && next !== data.name) open(next);
      for (const [name, go] of state.waiting) if (name === data.name) go.forEach((each) => each());
      state.waiting.delete(data.name);
      changed(data.name);
    }
    if (data.what === "failed" && data.of === "open") Object.assign(state, { coming: null, fault: data.sentence });
    say();
  }

  function say() {
    const { open: now, coming, chosen, fault, have } = state;
    const wanted = by.get(chosen);
    const isOther = now !== chosen;
    const says = fault ? words.failed : coming ? (now ? words.until : words.coming) : isOther && now ? words.other : words.answers;
    const values = { model: now ?? chosen, chosen, fault, have: mb(have ?? 0), of: mb(by.get(coming ?? chosen)?.bytes ?? 0) };
    text.textContent = filled(says, values);
    node.toggleAttribute("data-fault", Boolean(fault));
    bar.hidden = !coming;
    if (coming) Object.assign(bar, { max: by.get(coming).bytes, value: have ?? 0 });
    button.hidden = !(isOther && !coming);
    button.textContent = filled(fault ? words.again : words.fetch, { chosen, of: mb(wanted.bytes) });
    button.onclick = () => open(chosen);
    node.dataset.open = now ?? "";
  }

  // Done when this model is open.
  const whenOpen = (name) =>
    state.open === name
      ? Promise.resolve()
      : new Promise((go) => {
          state.waiting.set(name, [...(state.waiting.get(name) ?? []), go]);
          if (state.coming !== name && state.next !== name) open(name);
        });

  return { choose, hear, whenOpen, openOne: () => state.open };
}

const isSparing = () => {
  const { saveData, effectiveType = "4g", downlink = SLOW } = navigator.connection ?? {};
  return window.innerWidth < NARROW || saveData || effectiveType !== "4g" || downlink < SLOW;
};

// A file in the page: its text in base64, or the element that holds it.
function textOf(file) {
  return file.element ? document.getElementById(file.element).textContent.trim() : file;
}

const mb = (bytes) => (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);

// A sentence from Python: "{name}" stands for a value.
export const filled = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
