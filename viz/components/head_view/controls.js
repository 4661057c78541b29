// Which heads are shown, and how many lines per token: swatches and a choice.

import { element } from "../kit/page.js";
import { rove } from "../kit/roving.js";
import { channels, inkOn } from "../kit/shade.js";

const ALL = 0; // as the server says it
const LINES = [1, 2, 3, 5, 8, 16, 32];
const FIRST = 5; // lines per token where no such number is wished: a calm picture

// on: { heads(list), lines() }
export function createControls(on) {
  const bar = element("div", "bar");
  const swatches = element("div", "swatches");
  swatches.setAttribute("role", "toolbar");
  swatches.setAttribute("aria-label", "Shown heads");
  const lines = element("select");
  lines.onchange = () => {
    const isAll = lines.selectedIndex === lines.length - 1;
    controls.wished = isAll ? ALL : Number(lines.value);
    on.lines();
  };
  const choice = element("label", "choice dim");
  const unit = element("span");
  choice.append(unit, lines);
  choice.dataset.control = "";
  bar.append(swatches, choice);
  const controls = { bar, swatches, lines, unit, on, buttons: [], heads: [], wished: FIRST };
  swatches.onclick = (event) => onSwatch(controls, event);
  swatches.ondblclick = ({ target }) => isolate(controls, headOf(target));
  swatches.onkeydown = (event) => rove(event, [...swatches.querySelectorAll("button")], "row");
  return controls;
}

// One button a head, then "all" and "none"; Tab stops at the group once, arrows go on from there.
export function arrangeControls(controls, { nHeads, header }) {
  controls.nHeads = nHeads;
  controls.buttons = Array.from({ length: nHeads }, (_, head) => {
    const button = element("button", "swatch", String(head));
    button.title = `H${head}: click toggles, double click or Shift shows only this head`;
    button.dataset.head = head;
    return button;
  });
  const others = ["all", "none"].map((name) => {
    const button = element("button", "plain", name);
    button.dataset.all = name;
    button.setAttribute("aria-label", `${name} of the heads`);
    return button;
  });
  const nodes = header.per_head
    ? [...controls.buttons, ...others]
    : [element("span", "dim", "one map for all heads")];
  nodes.forEach((node, i) => {
    node.type = "button";
    node.tabIndex = i ? -1 : 0;
  });
  if (!header.per_head) nodes[0].removeAttribute("tabindex");
  controls.swatches.replaceChildren(...nodes);
  controls.unit.textContent = `lines per ${header.unit} `;
}

// A text too short for the number that is wished shows all, and a longer one that number again.
export function offerLines(controls, wished, { width, nColumns }) {
  const { lines } = controls;
  controls.wished = wished === ALL || LINES.includes(wished) ? wished : FIRST;
  const most = width < nColumns ? `${width} (all sent)` : "all";
  const counts = LINES.filter((n) => n < width);
  lines.replaceChildren(...counts.map((n) => new Option(n, n)), new Option(most, width));
  lines.value = counts.includes(controls.wished) ? controls.wished : width;
}

export function markHeads(controls, heads, { chosen, off, colourOf }) {
  controls.heads = heads;
  controls.buttons.forEach((button, head) => {
    const shown = heads.includes(head);
    const colour = colourOf(head);
    button.setAttribute("aria-pressed", String(shown));
    button.setAttribute("aria-label", `H${head}${head === chosen ? ", the chosen head" : ""}${off.includes(head) ? ", off" : ""}`);
    button.classList.toggle("chosen", head === chosen);
    button.style.setProperty("--head", colour);
    button.style.setProperty("--on-head", inkOn(channels(colour)));
  });
}

function headOf(node) {
  const button = node.closest("[data-head]");
  return button ? Number(button.dataset.head) : null;
}

function onSwatch(controls, { target, shiftKey }) {
  const all = target.closest("[data-all]")?.dataset.all;
  if (all) controls.on.heads(all === "all" ? everyHead(controls) : []);
  else if (shiftKey) isolate(controls, headOf(target));
  else toggle(controls, headOf(target));
}

function everyHead({ nHeads }) {
  return Array.from({ length: nHeads }, (_, head) => head);
}

function toggle(controls, head) {
  if (head === null || head >= controls.nHeads) return;
  const without = controls.heads.filter((other) => other !== head);
  const shown = without.length < controls.heads.length;
  controls.on.heads(shown ? without : [...without, head].sort((a, b) => a - b));
}

// Shows a head alone; where it is already, all of them.
function isolate(controls, head) {
  if (head === null || head >= controls.nHeads) return;
  const alone = controls.heads.length === 1 && controls.heads[0] === head;
  controls.on.heads(alone ? everyHead(controls) : [head]);
}

// Digits toggle the heads 0 to 9; with Shift they show one alone. Whether the key was one.
export function onDigit(controls, { code, shiftKey }) {
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(code)?.[1];
  if (digit === undefined) return false;
  (shiftKey ? isolate : toggle)(controls, Number(digit));
  return true;
}
