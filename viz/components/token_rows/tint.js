// The tint of written words: the deeper, the less sure the model was. A button at the end of the row
// takes it off, and puts it back; a list beside it chooses the measure.

import { element } from "../kit/page.js";
import { colourAt } from "../kit/shade.js";

const OFF = "off";
const FAINT = 0.1; // depths below it leave the ink of a token as it is
const DEEPEST = 0.27; // of the way to the scale's end: words stay legible, and so does what marks them

// choose(name) is called with a measure, or "off".
export function createTint(choose) {
  const [node, button] = [element("span", "key tint"), element("button", "", "uncertainty")];
  const [ramp, list] = [element("span", "depths"), element("select")];
  list.setAttribute("aria-label", "Tint of written words");
  button.prepend(ramp);
  node.dir = "ltr"; // the words are English, whatever the tokens are
  node.append(button, list);
  const tint = { node, button, list, last: "" };
  button.onclick = () => choose(isOn(tint) ? OFF : tint.last);
  list.onchange = () => choose(list.value);
  return tint;
}

function isOn({ button }) {
  return button.getAttribute("aria-pressed") === "true";
}

// header: of the token rows; name: the measure, or "off".
export function drawTint(tint, root, { certainty, tints }, name, palette) {
  const row = root.querySelector(".tokens.target");
  if (!row || !certainty.length) return;
  const names = Object.keys(tints);
  const measure = names.indexOf(name);
  tint.last = measure < 0 ? tint.last || names[0] : name;
  if (!tint.list.length) tint.list.append(...names.map((each) => new Option(tints[each], each)));
  tint.list.value = tint.last;
  tint.list.classList.toggle("unused", measure < 0); // it keeps its place
  tint.button.setAttribute("aria-pressed", String(measure >= 0));
  tint.button.title = measure < 0 ? "Tint what the model was less sure of" : "Take the tint off";
  const colours = [0, 1].map((depth) => colourOf(depth, palette));
  tint.node.style.setProperty("--depths", `linear-gradient(to right, ${colours.join(", ")})`);
  for (const word of row.querySelectorAll(".word")) {
    const [depths, text] = depthsOf(word, certainty);
    const depth = measure < 0 ? 0 : depths[measure];
    word.style.background = depth ? colourOf(depth, palette) : "";
    word.dataset.depth = depth;
    word.classList.toggle("tinted", depth >= FAINT);
    if (measure < 0) continue;
    for (const chip of word.children) chip.title = [text, chip.title].filter(Boolean).join("; ");
  }
  row.append(tint.node);
}

function depthsOf({ firstChild }, certainty) {
  const values = certainty[Number(firstChild.dataset.position)];
  return [values.slice(0, -1), values.at(-1)];
}

function colourOf(depth, { scale }) {
  return `rgb(${colourAt(scale, DEEPEST * depth).join(" ")})`;
}
