// Arrays of attention that a reader brings as a file, dropped on the page or chosen: the worker opens it,
// and it stands among the models until the page is left. It is sent nowhere.

import { filled } from "./models.js";

export const isArrays = (name) => /\.(npz|safetensors)$/i.test(name);

// page: as in acts.js. given: `content.arrays`, with the tables of a checkpoint. refuse(sentence).
export function createFiles(page, worker, { tables, ...own }, refuse) {
  const { words, models } = page;
  const [button, input] = ["open-arrays", "arrays"].map((id) => document.getElementById(id));
  let before = models[0].name; // the model that answers what is typed next

  function take(files) {
    if (!files.length) return;
    const it = page.chosen();
    if (it.page !== "explore") page.choose({ page: null }, true);
    if (files.length > 1) return refuse(filled(words.one_file, { n: files.length }));
    const [file] = files;
    if (!it.model.file) before = it.model.name;
    worker.postMessage({ what: "arrays", name: file.name, file, tables, own });
  }

  const hears = ({ what, of }) => what === "brought" || (what === "failed" && of === "arrays");

  function hear({ what, facts, sentence }) {
    if (what === "failed") return refuse(sentence);
    const { name, kinds, opens, text, notes } = facts;
    const { title, look } = own.says;
    const model = { name, file: name, title, look, before, label: `${name} · ${title}`, text, kinds, notes };
    Object.assign(model, { opens_at: [opens, 0, 0], special: "shown", reads: "text" });
    Object.assign(model, { config: {}, tables: {}, edits: {}, examples: [], methods: [], usual: null });
    const place = models.findIndex((each) => each.name === name);
    models.splice(place < 0 ? models.length : place, place < 0 ? 0 : 1, model);
    page.choose({ checkpoint: name, page: null }, true, true);
  }

  // What is chosen, too, where another text is: a file has one.
  function leaving(changes) {
    const { file, before: name } = page.chosen().model;
    return file && "text" in changes ? { checkpoint: name } : null;
  }

  const isOfFiles = ({ dataTransfer }) => dataTransfer?.types.includes("Files");
  const mark = (isOver) => document.documentElement.toggleAttribute("data-over", isOver);
  button.onclick = () => input.click();
  input.onchange = () => {
    take(input.files);
    input.value = ""; // so that the same one can be chosen again
  };
  window.addEventListener("dragover", (event) => {
    if (!isOfFiles(event)) return;
    event.preventDefault(); // else nothing may be dropped
    mark(true);
  });
  window.addEventListener("dragleave", ({ relatedTarget }) => relatedTarget || mark(false));
  window.addEventListener("drop", (event) => {
    if (!isOfFiles(event)) return;
    event.preventDefault();
    mark(false);
    take(event.dataTransfer.files);
  });

  return { hears, hear, leaving };
}
