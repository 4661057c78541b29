// All scenes of a talk, over the page: a press, a number or arrow keys lead to one.

import { element } from "../kit/page.js";
import { placeAfter, takeKey } from "../kit/roving.js";
import { placeInTalk } from "./going.js";

const COLUMNS = 2;

// go(i): to the scene of this place. Returns { dialog, open(talk, byNumber) }.
export function createOverview(go) {
  const dialog = element("dialog", "overview");
  const [title, list] = [element("h2"), element("ol")];
  const field = element("input");
  Object.assign(field, { type: "text", inputMode: "numeric", autocomplete: "off" });
  const label = element("label", "number", "Go to ");
  label.append(field);
  const head = element("header");
  head.append(title, label);
  dialog.append(head, list);
  const chosen = (i) => {
    dialog.close();
    go(i);
  };
  const open = (talk, byNumber) => {
    title.textContent = talk.title;
    const { scene } = placeInTalk();
    list.replaceChildren(...talk.scenes.map(({ heading }, i) => entry(heading, i, i + 1 === scene, chosen)));
    list.style.setProperty("--rows", Math.ceil(talk.scenes.length / COLUMNS));
    field.value = "";
    if (!dialog.open) dialog.showModal();
    (byNumber ? field : (list.querySelector("[aria-current]") ?? list.querySelector("button"))).focus();
  };
  dialog.onkeydown = (event) => onKey(event, { dialog, list, field, chosen });
  dialog.onclick = ({ target }) => target === dialog && dialog.close();
  return { dialog, open };
}

function entry(heading, i, isHere, chosen) {
  const node = element("li");
  const button = element("button");
  button.type = "button";
  button.append(element("span", "n", String(i + 1)), element("span", "", heading));
  if (isHere) button.setAttribute("aria-current", "step");
  button.onclick = () => chosen(i);
  node.append(button);
  return node;
}

function onKey(event, { dialog, list, field, chosen }) {
  const buttons = [...list.querySelectorAll("button")];
  const at = buttons.indexOf(event.target);
  const to = at < 0 ? undefined : placeAfter(event.key, at, buttons.length, "both");
  const number = Number(field.value);
  if (event.key === "Escape") dialog.close();
  else if (event.key === "Enter" && event.target === field) {
    if (Number.isInteger(number) && number >= 1) chosen(Math.min(number, buttons.length) - 1);
    else dialog.close();
  } else if (to !== undefined) buttons[to].focus();
  else if (/^\d$/.test(event.key) && event.target !== field) {
    field.focus();
    return; // the field takes it
  } else return;
  takeKey(event);
}
