// A picture's own button: copied, or saved as PNG or SVG. The key c copies the picture that is
// pointed at, else the one that was touched last, else the largest.

import { applyPalette, element } from "../page.js";
import { hasModifier, rove, takeKey } from "../roving.js";
import { figureOf } from "./figure.js";
import { copied, fileName, pngFile, save, svgFile } from "./files.js";

const PICTURES = "headscope:pictures"; // of the window: all that can be copied
const TYPING = "input:not([type=range], [type=radio], [type=checkbox]), textarea, select, [contenteditable]";
const SAID = 4000; // ms that a word of what happened stays
const FINEST = 4; // device pixels per CSS pixel of what is not lines and texts in SVG
const ICON = "M2 4h3l1-1.5h4L11 4h3v9H2zM8 6a2.6 2.6 0 100 5.2A2.6 2.6 0 008 6z"; // a camera

// view: what figure.js asks of a component. Returns update(envelope) and end().
export function createTools(root, view) {
  const tools = { root, view, caption: document.title, touched: 0, timer: 0 };
  tools.node = element("div", "figure-tools");
  tools.button = createButton(tools);
  tools.menu = createMenu(tools);
  tools.menu.hidden = true;
  tools.word = element("span", "word");
  tools.word.setAttribute("role", "status");
  tools.node.append(tools.word, tools.button, tools.menu);
  tools.node.onkeydown = (event) => onMenuKey(tools, event);
  tools.node.onmousedown = (event) => event.preventDefault(); // a press takes no focus away
  tools.node.addEventListener("focusout", ({ relatedTarget }) => {
    if (!tools.node.contains(relatedTarget)) close(tools);
  });
  root.after(tools.node);
  const silence = listen(tools);
  const update = ({ palette, caption }) => {
    applyPalette(tools.node, palette);
    tools.caption = caption || tools.caption; // a preview of what is typed brings none
  };
  const end = () => {
    silence();
    clearTimeout(tools.timer);
    tools.node.remove();
  };
  return { update, end };
}

function createButton(tools) {
  const button = element("button", "open");
  button.type = "button";
  button.title = "Copy or save as figure (c copies)";
  button.setAttribute("aria-label", "Copy or save as figure");
  button.setAttribute("aria-haspopup", "menu");
  button.setAttribute("aria-expanded", "false");
  const space = "http://www.w3.org/2000/svg";
  const icon = document.createElementNS(space, "svg");
  icon.setAttribute("viewBox", "0 0 16 16");
  icon.setAttribute("aria-hidden", "true");
  icon.append(document.createElementNS(space, "path"));
  icon.firstChild.setAttribute("d", ICON);
  button.append(icon);
  button.onclick = () => (tools.menu.hidden ? open(tools) : close(tools));
  return button;
}

function createMenu(tools) {
  const menu = element("div", "menu");
  menu.setAttribute("role", "menu");
  menu.setAttribute("aria-label", "Figure");
  const entries = {
    "Copy image": () => copy(tools),
    "PNG 2×": () => savePng(tools, 2),
    "PNG 4×": () => savePng(tools, 4),
    SVG: () => saveSvg(tools),
  };
  for (const [title, action] of Object.entries(entries)) {
    const node = item("menuitem", title);
    node.onclick = () => {
      close(tools, true);
      action();
    };
    menu.append(node);
  }
  tools.transparent = item("menuitemcheckbox", "Transparent background");
  tools.transparent.setAttribute("aria-checked", "false");
  tools.transparent.onclick = () => {
    tools.transparent.setAttribute("aria-checked", String(!isTransparent(tools)));
  };
  menu.append(tools.transparent);
  return menu;
}

function item(role, title) {
  const node = element("button", "", title);
  Object.assign(node, { type: "button", tabIndex: -1 });
  node.setAttribute("role", role);
  return node;
}

function isTransparent({ transparent }) {
  return transparent.getAttribute("aria-checked") === "true";
}

function open({ menu, button }) {
  menu.hidden = false;
  button.setAttribute("aria-expanded", "true");
  menu.firstChild.focus();
}

function close({ menu, button }, isDone = false) {
  menu.hidden = true;
  button.setAttribute("aria-expanded", "false");
  if (isDone) button.focus();
}

function onMenuKey(tools, event) {
  if (tools.menu.hidden || hasModifier(event)) return;
  if (event.key === "Escape") {
    close(tools, true);
    takeKey(event);
  } else rove(event, [...tools.menu.children], "column");
}

function listen(tools) {
  const pictures = (window[PICTURES] ??= []);
  pictures.push(tools);
  const touched = () => (tools.touched = Math.max(0, ...pictures.map((each) => each.touched)) + 1);
  const events = ["pointerdown", "focusin", "keydown"];
  for (const name of events) tools.root.addEventListener(name, touched);
  // Before anybody else: Streamlit has a c of its own.
  const onKey = (event) => onKeyDown(tools, pictures, event);
  window.addEventListener("keydown", onKey, true);
  return () => {
    for (const name of events) tools.root.removeEventListener(name, touched);
    window.removeEventListener("keydown", onKey, true);
    pictures.splice(pictures.indexOf(tools), 1);
  };
}

function onKeyDown(tools, pictures, event) {
  if (event.key !== "c" || hasModifier(event) || event.defaultPrevented || event.repeat) return;
  const [origin] = event.composedPath();
  if (origin instanceof Element && origin.closest(TYPING)) return;
  if (meant(pictures) !== tools) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  copy(tools);
}

// Pointed at, else touched last, else the largest.
function meant(pictures) {
  const seen = pictures.filter(({ root }) => root.offsetParent !== null || root.offsetHeight > 0);
  const area = ({ root }) => root.offsetWidth * root.offsetHeight;
  const last = (a, b) => b.touched - a.touched || area(b) - area(a);
  return seen.find(({ root, node }) => root.matches(":hover") || node.matches(":hover")) ?? seen.toSorted(last)[0];
}

function figureAt(tools, ratio) {
  return figureOf(tools.root, tools.view, tools.caption, ratio, isTransparent(tools));
}

async function copy(tools) {
  const file = pngFile(figureAt(tools, 2), 2);
  if (await copied(file)) return tell(tools, "Copied.");
  save(await file, `${fileName(tools.caption)}@2x.png`);
  tell(tools, "The browser did not allow copying, so the image was saved.");
}

async function savePng(tools, scale) {
  const name = `${fileName(tools.caption)}@${scale}x.png`;
  save(await pngFile(figureAt(tools, scale), scale), name);
  tell(tools, `Saved as ${name}.`);
}

function saveSvg(tools) {
  const name = `${fileName(tools.caption)}.svg`;
  save(svgFile(figureAt(tools, FINEST)), name);
  tell(tools, `Saved as ${name}.`);
}

function tell(tools, text) {
  clearTimeout(tools.timer);
  tools.word.textContent = text;
  tools.timer = setTimeout(() => (tools.word.textContent = ""), SAID);
}
