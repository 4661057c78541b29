// The page Sweep: every head off in turn, as far as that is. It begins when somebody asks for it, gives way
// to whoever types, and can be stopped and goes on.

import { unpack } from "../../components/kit/unpack.js";
import { listed } from "./address.js";
import { counted, radios } from "./controls.js";
import { filled } from "./models.js";
import { drawTable } from "./tables.js";

const at = (id) => document.getElementById(id);

// page: as in acts.js. answers: of answers.js. changed(): something is stopped, or goes on.
export function createSweep(page, answers, changed) {
  const words = page.words.growth;
  const own = { stopped: "", shown: null, drawn: "" };

  function draw(it, open, theme) {
    const { sort, kind, isAsked } = it.sweep;
    const { kinds } = it.model;
    const titles = Object.entries(kinds).map(([name, { title }]) => [name, title]);
    radios(at("sweep-kind"), [["all", words.all], ...titles], kinds[kind] ? kind : "all", (value) =>
      page.choose({ sweep_kind: value }));
    at("sweep-kind").hidden = titles.length < 2;
    const nEdits = listed(it.made).length;
    at("sweep-unchanged").hidden = !nEdits;
    at("sweep-unchanged").textContent = filled(words.unchanged, { edits: counted(nEdits, words.edits) });
    const key = JSON.stringify([open, it.text, it.method, it.prefix]);
    if (own.shown?.key !== key) own.shown = null;
    const isGoing = isAsked && own.stopped !== key;
    const value = isGoing ? answers.studyOf("sweep", it, open, { sort, kind, theme }) : null;
    if (value) own.shown = { key, ...value };
    offer(it, isAsked, key);
    table();
  }

  function offer(it, isAsked, key) {
    const n = Object.values(it.model.kinds).reduce((sum, each) => sum + each.n_layers * each.n_heads, 0);
    at("sweep-begin").hidden = isAsked || !answers.facts();
    at("sweep-begin").textContent = filled(words.begin, { runs: counted(n, words.runs), time: time(n) });
    at("sweep-begin").onclick = () => page.choose({ sweep_asked: "yes" });
    const { progress = { done: 0, all: n }, isGrowing, rows } = own.shown ?? {};
    const isWhole = own.shown && !isGrowing;
    at("sweep-far").hidden = !isAsked || isWhole;
    const [bar, far, button] = at("sweep-far").children;
    const isStopped = own.stopped === key;
    Object.assign(bar, { max: progress.all, value: progress.done });
    far.textContent = filled(isStopped ? words.stopped : words.done, progress);
    button.textContent = isStopped ? words.go_on : words.stop;
    button.onclick = () => {
      own.stopped = isStopped ? "" : key;
      if (!isStopped) answers.stopStudy();
      changed();
    };
    at("sweep-csv").hidden = !rows;
    at("sweep-csv").onclick = () => save(rows);
  }

  // What is shown stays until something newer is here.
  function table() {
    const host = document.querySelector('[data-table="sweep"]');
    host.hidden = !own.shown;
    if (!own.shown || own.drawn === own.shown.payload) return;
    own.drawn = own.shown.payload;
    const { style, elements } = unpack(own.drawn).header;
    drawTable(host, style, elements, page);
  }

  // The time that all heads take, by what the answer took.
  function time(n) {
    const seconds = (n * (answers.ms() ?? 0)) / 1000;
    const far = ([each]) => Math.abs(each - seconds);
    return words.times.reduce((a, b) => (far(b) < far(a) ? b : a))[1];
  }

  function save(rows) {
    const url = URL.createObjectURL(new Blob([rows], { type: "text/csv" }));
    Object.assign(document.createElement("a"), { href: url, download: words.file }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  return { draw };
}
