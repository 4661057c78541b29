// Predict, then reveal: which word will this row look at? One is tapped, or 100 points are spread:
// by whoever stands here, or in the room of a talk by everybody in the audience.

import { mounted } from "../kit/mounted.js";
import { applyPalette, element } from "../kit/page.js";
import { tell } from "../kit/sync.js";
import { knownTally, onTally } from "../kit/tally.js";
import { unpack } from "../kit/unpack.js";
import { answerSoon, createAnswering, howCounted, modeOf, takeCounted } from "./answering.js";
import { createField, showField } from "./field.js";
import { ALL, onOne, sumOf, whole, withPoints } from "./points.js";
import { createRest, showResult } from "./result.js";
import { tellTruth } from "./truth.js";

const REVEAL = "headscope:reveal"; // somebody asks for the answer by a key of the talk
const IN_A_COLUMN = 8;
const MOST_COLUMNS = 4; // with sliders; of more words one is tapped
const NARROW = 700; // px of a window in which words stand below each other: the style says the same

// Not a picture: nobody copies it as a figure.
export default mounted("question", create, update);

function create(root, sync) {
  const view = { root, sync, points: [], fields: [], truth: null, of: "", role: null, uncounted: "" };
  view.answering = createAnswering();
  view.asked = element("p", "asked");
  view.list = element("ol", "words");
  view.rest = createRest();
  view.key = element("li", "key");
  view.button = element("button", "reveal", "Reveal (r)");
  view.button.type = "button";
  view.sum = element("span", "dim");
  view.sum.setAttribute("role", "status");
  view.foot = element("p", "foot");
  view.foot.append(view.button, view.sum);
  view.said = element("p", "said");
  view.said.setAttribute("role", "status");
  root.replaceChildren(view.asked, view.said, view.list, view.foot);
  const reveal = () => {
    const isSeen = root.getClientRects().length > 0;
    if (!view.truth && isSeen && modeOf(view, knownTally()) !== "guest") tell(sync, "reveal", whole(view.points));
  };
  view.button.onclick = reveal;
  window.addEventListener(REVEAL, reveal);
  const endTally = onTally(() => show(view));
  view.dispose = () => {
    window.removeEventListener(REVEAL, reveal);
    endTally();
    clearTimeout(view.answering.timer);
  };
  return view;
}

function update(view, { nonce, palette, guess, of, role, uncounted, payload }) {
  applyPalette(view.root, palette);
  if (nonce === view.nonce && of === view.of) return;
  const { asked, words, truth } = unpack(payload).header;
  const isSame = view.of === of && view.asked.textContent === asked && view.words?.join() === words.join();
  Object.assign(view, { nonce, truth, of, role, uncounted });
  if (!isSame) begin(view, asked, words);
  const isOwn = modeOf(view, knownTally()) !== "guest" && guess?.length === words.length && sumOf(guess) > 0;
  if (isOwn) view.points = guess;
  show(view);
}

function begin(view, asked, words) {
  clearTimeout(view.answering.timer);
  Object.assign(view, { words, points: words.map(() => 0), answering: createAnswering() });
  view.asked.textContent = asked;
  view.fields = words.map((word, i) => field(view, word, i));
  view.list.replaceChildren(...view.fields.map(({ node }) => node), view.rest.node, view.key);
  const nColumns = Math.ceil(words.length / IN_A_COLUMN);
  view.list.style.setProperty("--rows", Math.ceil(words.length / nColumns));
  view.list.classList.toggle("many", nColumns > MOST_COLUMNS);
}

function field(view, word, i) {
  const made = createField(word);
  made.button.onclick = ({ detail }) => {
    put(view, onOne(view.words.length, i));
    if (detail) made.button.blur(); // by a tap: the next key is the talk's
  };
  made.range.oninput = () => put(view, withPoints(view.points, i, Number(made.range.value)));
  return made;
}

function put(view, points) {
  view.points = points;
  if (modeOf(view, knownTally()) === "guest") answerSoon(view);
  show(view);
}

// What is known, as it is now: the answers may grow while nothing else changes.
function show(view) {
  const { truth, asked, list, foot, button, sum, said, fields } = view;
  const known = knownTally();
  const mode = modeOf(view, known);
  const tally = known?.of === view.of ? known : null;
  if (mode === "guest") takeCounted(view, tally);
  const isTold = Boolean(truth && tally?.answered && tally.logs);
  for (const node of [asked, foot]) node.hidden = Boolean(truth);
  list.hidden = Boolean(truth) && !isTold;
  said.hidden = !truth;
  button.hidden = mode === "guest";
  foot.classList.toggle("of-room", mode === "room");
  const points = whole(view.points);
  fields.forEach((each, i) => showField(each, points[i], mode === "room" ? tally : null, i));
  showResult(view, isTold ? tally : null);
  sum.textContent = sayWhere(view, mode, tally, sumOf(points));
  if (truth) tellTruth(view, isTold ? tally : null);
}

function hint({ list }) {
  const isTapped = list.classList.contains("many") && window.innerWidth > NARROW;
  return isTapped ? "Tap a word" : `Tap a word, or spread ${ALL} points`;
}

function sayWhere(view, mode, tally, given) {
  if (mode === "room") return `${tally.answered} of ${tally.asked} have answered`;
  const said = given ? `${given} of ${ALL} points` : hint(view);
  const isSaid = view.uncounted ? tally : given && mode === "guest";
  return isSaid ? `${said}. ${howCounted(view, tally)}` : said;
}
