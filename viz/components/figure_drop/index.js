// A figure that was saved, or a crate with one, is dropped on the page, or chosen: the page goes to
// the address that it carries. The file is looked through here, for one word, and sent nowhere. A story, and attention weights, are told
// to the server, which says where they can be seen.

import { mounted } from "../kit/mounted.js";
import { applyPalette, element } from "../kit/page.js";
import { tell } from "../kit/sync.js";
import { isZip } from "../kit/zip.js";
import { addressOf, isFigure } from "./carried.js";
import { figuresIn } from "./crate.js";

const OTHERS = '[data-testid="stFileUploaderDropzone"]'; // they take files of their own

// Not a picture: nobody copies it as a figure.
export default mounted("figure_drop", create, update);

function create(root, sync) {
  const view = { root, sync, limits: null, gone: "" };
  const label = element("label", "", "Open a figure, a story or attention weights");
  view.input = element("input", "hidden-text");
  Object.assign(view.input, { type: "file", accept: ".svg,.pdf,.png,.zip,.md,.npz,.safetensors" });
  view.input.onchange = () => {
    take(view, view.input.files[0]);
    view.input.value = ""; // so that the same one can be chosen again
  };
  label.append(view.input);
  const hint = element("p", "dim", "An SVG, PDF, PNG, ZIP or MD saved here, or an NPZ or SAFETENSORS of weights; or drop it anywhere on the page.");
  root.append(label, hint);
  const over = (event) => isOurs(event) && event.preventDefault(); // else nothing may be dropped
  const drop = (event) => {
    if (!isOurs(event)) return;
    event.preventDefault();
    takeOne(view, event.dataTransfer.files);
  };
  window.addEventListener("dragover", over);
  window.addEventListener("drop", drop);
  view.dispose = () => {
    window.removeEventListener("dragover", over);
    window.removeEventListener("drop", drop);
  };
  return view;
}

function update(view, { palette, mark, longest, largest, longest_story, largest_arrays, goes }) {
  view.limits = { mark, longest, largest, story: longest_story, arrays: largest_arrays };
  applyPalette(view.root, palette);
  if (goes && goes !== view.gone) go(goes);
  view.gone = goes;
}

function isOurs(event) {
  return event.dataTransfer?.types.includes("Files") && !event.target.closest?.(OTHERS);
}

function takeOne(view, files) {
  if (files.length < 2) take(view, files[0]);
  else tell(view.sync, "refused", `${files.length} files cannot be opened together: drop one figure or story.`);
}

async function take(view, file) {
  if (!file) return;
  try {
    if (/\.md$/i.test(file.name)) {
      tell(view.sync, "story", { name: file.name, text: await storyOf(file, view.limits.story) });
      return;
    }
    if (/\.(npz|safetensors)$/i.test(file.name)) {
      tell(view.sync, "arrays", { name: file.name, data: await arraysOf(file, view.limits.arrays) });
      return;
    }
    const { page, query } = addressOf(await figureOf(file, view.limits), view.limits);
    go(`./${page}?${query}`);
  } catch (error) {
    tell(view.sync, "refused", `${file.name.slice(0, 80)} ${error.message}`); // it may be closed where this stands
  }
}

async function figureOf(file, limits) {
  const { largest } = limits;
  if (file.size > largest) throw new Error(`has ${file.size.toLocaleString("en")} bytes, and figures have fewer: open another file.`);
  const bytes = new Uint8Array(await file.arrayBuffer());
  if (!isZip(bytes)) return bytes;
  const found = (await figuresIn(bytes, largest)).find((each) => isFigure(each, limits));
  if (found) return found;
  throw new Error("holds no figure of Headscope: give a ZIP that Figure as ZIP has saved, or a figure by itself.");
}

// Bytes travel to the server as JSON: in base64.
async function arraysOf(file, largest) {
  if (!largest) throw new Error("is not opened here: others can reach this server, and it takes no files of weights.");
  if (file.size > largest) throw new Error(`has ${file.size.toLocaleString("en")} bytes, and at most ${largest.toLocaleString("en")} are taken: open it by its path.`);
  const reader = new FileReader();
  await new Promise((done, failed) => {
    Object.assign(reader, { onload: done, onerror: () => failed(new Error("cannot be read.")) });
    reader.readAsDataURL(file);
  });
  return reader.result.slice(reader.result.indexOf(",") + 1);
}

async function storyOf(file, longest) {
  if (file.size > longest) throw new Error(`has ${file.size.toLocaleString("en")} bytes, and stories have fewer: open another file.`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
  } catch {
    throw new Error("is not text in UTF-8: save it as that.");
  }
}

// As by a link of the page: what is open stays so, and Back leads here.
function go(address) {
  const link = element("a");
  link.dataset.state = "";
  link.href = new URL(address, window.location.href).href;
  document.body.append(link);
  link.click();
  link.remove();
}
