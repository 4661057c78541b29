// Predict, then reveal: which word will this row look at? One is tapped, or 100 points are spread.

import { mounted } from "../kit/mounted.js";
import { applyPalette, element } from "../kit/page.js";
import { tell } from "../kit/sync.js";
import { unpack } from "../kit/unpack.js";
import { ALL, cost, onOne, withPoints } from "./points.js";

const REVEAL = "headscope:reveal"; // somebody asks for the answer by a key of the talk
const REVEALED = "headscope:revealed"; // it is there: the picture may follow
const IN_A_COLUMN = 8;

// Not a picture: nobody copies it as a figure.
export default mounted("question", create, update);

function create(root, sync) {
  const view = { root, sync, points: [], fields: [], truth: null };
  view.asked = element("p", "asked");
  view.list = element("ol", "words");
  view.button = element("button", "reveal", "Reveal (r)");
  view.button.type = "button";
  view.sum = element("span", "dim");
  view.foot = element("p", "foot");
  view.foot.append(view.button, view.sum);
  view.said = element("p", "said");
  view.said.setAttribute("role", "status");
  root.replaceChildren(view.asked, view.list, view.foot, view.said);
  const reveal = () => !view.truth && root.getClientRects().length && tell(sync, "reveal", view.points.map(Math.round));
  view.button.onclick = reveal;
  window.addEventListener(REVEAL, reveal);
  view.dispose = () => window.removeEventListener(REVEAL, reveal);
  return view;
}

function update(view, { nonce, palette, guess, payload }) {
  applyPalette(view.root, palette);
  if (nonce === view.nonce) return;
  const { asked, words, truth } = unpack(payload).header;
  const isSame = view.asked.textContent === asked && view.words?.join() === words.join();
  if (!isSame) begin(view, asked, words);
  if (guess?.length === words.length) view.points = guess;
  Object.assign(view, { nonce, truth });
  for (const node of [view.asked, view.list, view.foot]) node.hidden = Boolean(truth);
  view.said.hidden = !truth;
  if (truth) tellTruth(view);
  showPoints(view);
}

function begin(view, asked, words) {
  Object.assign(view, { words, points: words.map(() => 0) });
  view.asked.textContent = asked;
  view.fields = words.map((word, i) => field(view, word, i));
  view.list.replaceChildren(...view.fields.map(({ node }) => node));
  view.list.style.setProperty("--rows", Math.ceil(words.length / Math.ceil(words.length / IN_A_COLUMN)));
}

function field(view, word, i) {
  const [node, button, range, number] = [element("li"), element("button", "", word), element("input"), element("output")];
  button.type = "button";
  button.onclick = ({ detail }) => {
    put(view, onOne(view.words.length, i));
    if (detail) button.blur(); // by a tap: the next key is the talk's
  };
  Object.assign(range, { type: "range", min: 0, max: ALL, step: 5 });
  range.setAttribute("aria-label", `Points for ${word}`);
  range.oninput = () => put(view, withPoints(view.points, i, Number(range.value)));
  node.append(button, range, number);
  return { node, button, range, number };
}

function put(view, points) {
  view.points = points;
  showPoints(view);
}

function showPoints({ fields, points, sum }) {
  fields.forEach(({ button, range, number }, i) => {
    const given = Math.round(points[i]);
    range.value = given;
    range.style.setProperty("--part", `${given}%`);
    number.textContent = given || "";
    button.setAttribute("aria-pressed", given === ALL);
  });
  const given = Math.round(points.reduce((a, b) => a + b, 0));
  sum.textContent = given ? `${given} of ${ALL} points` : `Tap a word, or spread ${ALL} points`;
}

function tellTruth({ root, said, points, truth }) {
  const yours = cost(truth.weights, points);
  const known = [["uniform", truth.uniform], ["previous word", truth.previous], ["at best", truth.least]];
  const others = known.map(([name, value]) => `${name} ${nats(value)}`).join(" · ");
  said.replaceChildren(`${truth.says} `);
  if (yours !== null) said.append(element("b", "", `Your points cost ${nats(yours)}`), " · ");
  said.append(`${others} (less is better)`);
  root.dispatchEvent(new CustomEvent(REVEALED, { bubbles: true, composed: true }));
}

function nats(value) {
  return `${value.toFixed(2)} nats`;
}
