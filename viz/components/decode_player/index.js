// One decoding, a step at a time: what is written, what else could have been, what was attended to.

import { host } from "../kit/host.js";
import {
  announcePointing,
  applyPalette,
  bare,
  directionOf,
  element,
  inWords,
  markPointed,
  onToken,
  setPiece,
  setWordPiece,
} from "../kit/page.js";
import { createPlayback, follow, move, onPlayerKey, pause, sayPlace } from "../kit/playback.js";
import { createSentence, saidOf, say } from "../kit/sentence.js";
import { onRoom } from "../kit/room.js";
import { lawOf, shadeChip } from "../kit/shade.js";
import { onSwipe } from "../kit/swipe.js";
import { term } from "../kit/terms.js";
import { unpack } from "../kit/unpack.js";
import { branchFrom, offerBranches } from "./branches.js";
import { createCoverage, fitCoverage, showCoverage } from "./coverage.js";
import { columnAt, fitStrip, markColumn } from "./columns.js";
import { editWords } from "./editing.js";
import { fitWall, keepInSight } from "./fitting.js";
import { illustrate } from "./illustrate.js";
import {
  createOverview,
  drawOverview,
  fillOverview,
  markOverview,
  markOverviewColumn,
} from "./overview.js";

const NOWHERE = { side: "source", position: null };

export default host("decode_player", create, update);

function create(root, sync) {
  const player = { root, sentence: createSentence(), pointed: NOWHERE };
  player.illustrate = (what, name) => illustrate(player, what, name);
  const playback = createPlayback((step) => show(player, step), sync, "step");
  const overview = createOverview((step) => move(playback, step));
  Object.assign(player, { playback, overview });
  player.written = tokenList("written", "What is written so far");
  player.source = tokenList("weighted", "Cross-attention over the source");
  player.read = tokenList("weighted", "Self-attention over what is written");
  player.coverage = createCoverage();
  player.bars = element("div", "bars");
  player.entropy = element("div", "fact");
  player.amount = element("span");
  player.entropy.append(dimTerm("step_entropy", "entropy"), player.amount, term("bits", "bits"));
  player.note = element("p", "note dim");
  player.spoken = element("div", "hidden-text");
  player.spoken.setAttribute("aria-live", "polite");
  player.law = element("span");
  const legend = element("div", "legend dim");
  legend.append("0 ", element("span", "ramp"), " 1 · ", player.law);
  root.replaceChildren(
    playback.bar,
    player.written,
    player.sentence.node,
    panel("candidates", term("candidate", "Candidates"), player.bars, player.entropy, player.note),
    panel("source", "Attends to in the source", player.source, player.coverage.node),
    panel("own", "Attends to in what is written", player.read, legend),
    panel("all", "All steps, one per row: attention, token written, entropy", overview.node),
    player.spoken,
  );
  const silence = onToken((token) => point(player, token));
  const onKeyDown = (event) => onPlayerKey(playback, root, event);
  window.addEventListener("keydown", onKeyDown);
  onSwipe(root, (by) => move(playback, playback.step + by));
  announcePointing(root);
  player.written.onclick = ({ target }) => {
    const pressed = target.closest(".chip");
    if (pressed?.dataset.side === "target") move(playback, Number(pressed.dataset.position));
  };
  branchFrom(player, sync);
  editWords(player, sync);
  const endRoom = onRoom(root, () => player.header && layOut(player));
  player.dispose = () => {
    endRoom();
    pause(playback);
    silence();
    player.sentence.end();
    window.removeEventListener("keydown", onKeyDown);
  };
  return player;
}

function dimTerm(name, text) {
  const node = element("span", "dim");
  node.append(term(name, text));
  return node;
}

function panel(name, title, ...children) {
  const node = element("section", `panel ${name}`);
  const heading = element("h3");
  heading.append(...[title].flat());
  node.append(heading, ...children);
  return node;
}

function tokenList(className, title) {
  const node = element("div", `tokens ${className}`);
  node.setAttribute("role", "list");
  node.setAttribute("aria-label", title);
  return node;
}

function update(player, { nonce, palette, step, branches, payload }) {
  player.branches = branches === true;
  const { playback } = player;
  const drawn = `${nonce} ${palette.name}`;
  const decoding = player.header?.decoding;
  if (drawn !== player.drawn) {
    player.drawn = drawn;
    const { header, arrays } = unpack(payload);
    const cross = header.source.length ? arrays[0] : null; // a generator has none
    const own = arrays[cross ? 1 : 0];
    Object.assign(player, { header, cross, own, soFar: header.coverage ? arrays[2] : null, palette });
    applyPalette(player.root, palette);
    player.law.textContent = lawOf(palette);
    arrange(player);
    const entropies = header.steps.map((s) => s.entropy);
    const weights = cross ?? player.own;
    fillOverview(player.overview, { weights, written: header.steps.map(chosenOf), entropies });
    layOut(player);
  }
  const isOther = player.header.decoding !== decoding;
  if (isOther) player.pointed = NOWHERE; // its token may not be there any more
  follow(playback, player.header.steps.length, step, isOther);
  player.root.dataset.nonce = nonce;
}

// The map of all steps stands below the strip of its keys.
function layOut(player) {
  const strip = player.cross ? player.source : player.read;
  fitStrip(strip);
  fitCoverage(player.coverage, player.source, player.soFar);
  drawOverview(player.overview, [...strip.children], player.palette);
  fitWall(player);
  stayInSight(player);
}

// What the step is about, where not all is shown.
function stayInSight({ root, header, playback: { step }, chips, written, source, read, cross }) {
  if (!root.classList.contains("tight")) return;
  const { prompt, before, columns } = header;
  keepInSight(written, chips[prompt.length + step]);
  keepInSight(read, read.children[columnAt(columns.read, before + step - 1)]);
  if (cross) keepInSight(source, source.children[strongestOf(cross, step)]);
}

function strongestOf(weights, step) {
  const [, n] = weights.shape;
  const row = weights.subarray(step * n, (step + 1) * n);
  return row.indexOf(Math.max(...row));
}

function arrange(player) {
  const { source, prompt, target, read, steps, before, columns } = player.header;
  player.root.classList.toggle("generator", prompt.length > 0);
  player.chips = [
    ...prompt.map((piece, i) => chip(piece, "source", i)),
    ...target.map((piece, i) => chip(piece, "target", i)),
  ];
  player.written.replaceChildren(...inWords([...prompt, ...target], player.chips));
  const first = (side, i) => columns[side][i][0];
  player.source.replaceChildren(...source.map((piece, i) => weighted(piece, "source", first("source", i))));
  // Before what was written stands the prompt, or the start token, which is no one's.
  const place = (i) => (i < before ? ["source", prompt.length ? i : -1] : ["target", i - before]);
  player.written.title = player.branches ? "Press a word twice to write another one in its place" : "";
  player.read.replaceChildren(...read.map((piece, i) => weighted(piece, ...place(first("read", i)))));
  player.written.dir = directionOf([...prompt, ...target]);
  player.source.dir = directionOf(source);
  player.read.dir = directionOf(read);
  const nBars = Math.max(...steps.map(({ candidates }) => candidates.length)) + 1; // and all others
  player.bars.replaceChildren(...Array.from({ length: nBars }, bar));
  player.note.textContent = noteOf(player.header);
}

function chip(piece, side, position) {
  const node = element("span", "chip");
  if (position >= 0) Object.assign(node.dataset, { side, position });
  node.setAttribute("role", "listitem");
  setWordPiece(node, piece);
  return node;
}

function weighted(piece, side, position) {
  const node = chip(piece, side, position);
  const text = element("span", "piece");
  text.append(...node.childNodes);
  node.append(text, element("span", "weight"));
  return node;
}

function bar() {
  const node = element("div", "bar");
  node.append(element("span", "piece"), element("span", "track"), element("span", "percent"));
  node.children[1].append(element("span", "fill"));
  return node;
}

function show(player, step) {
  const { header, playback } = player;
  const now = header.steps[step];
  player.chips.slice(header.prompt.length).forEach((node, i) => {
    node.classList.toggle("now", i === step);
    node.classList.toggle("later", i > step);
  });
  sayPlace(playback, placeOf(header, step));
  showCandidates(player, now);
  const { before, columns } = header;
  if (player.cross) showWeights(player, player.source, player.cross, step, header.source.length);
  showCoverage(player.coverage, player, step);
  showWeights(player, player.read, player.own, step, 1 + columnAt(columns.read, before + step - 1));
  player.amount.textContent = ` ${now.entropy.toFixed(2)} `;
  markOverview(player.overview, step);
  speak(player);
  stayInSight(player);
  player.root.dataset.step = step;
  if (!playback.playing) player.spoken.textContent = sentence(header, step);
}

// Words are counted where words are shown. A step writes a piece of one.
function placeOf({ steps, word_of: wordOf }, step) {
  const piece = `piece ${step + 1} of ${steps.length}`;
  if (!wordOf.length) return piece;
  const word = `word ${wordOf[step] + 1} of ${wordOf.at(-1) + 1}`;
  return wordOf.at(-1) + 1 === steps.length ? word : `${word}, ${piece}`;
}

// What a candidate is, where it may be less than a word.
function noteOf({ steps, in_pieces: inPieces }) {
  if (!inPieces) return "";
  const isByte = ([label]) => /^<0x[0-9A-F]{2}>$/.test(label);
  const ofBytes = steps.some(({ candidates }) => candidates.some(isByte));
  const bytes = ofBytes ? " <0x…> is a byte: a part of a character." : "";
  const what = "Each step writes one piece, which may be less than a word";
  return `${what}: each candidate is the word as far as it would then stand.${bytes}`;
}

function sentence(header, step) {
  const [, , , share] = chosenOf(header.steps[step]);
  return `Step ${step + 1} of ${header.steps.length}: wrote ${bare(header.target[step])}, ${share}`;
}

function chosenOf({ candidates, chosen }) {
  return candidates[chosen];
}

function showCandidates(player, { candidates, chosen, rest, rest_text: restShare, n_rest: nRest }) {
  // Before and after the rules of a folder: two numbers need more room, in every row the same.
  player.bars.classList.toggle("ruled", candidates.some(([, , , share]) => share.includes("→")));
  [...player.bars.children].forEach((node, i) => {
    const others = i === candidates.length;
    node.hidden = i > candidates.length || (others && nRest === 0);
    if (node.hidden) return;
    const [label, special, prob, share] = others
      ? [`all other ${nRest.toLocaleString("en")}`, 0, rest, restShare]
      : candidates[i];
    setPiece(node.children[0], [label, special]);
    offerBranches(player, node, others ? null : i);
    node.classList.toggle("others", others);
    node.classList.toggle("chosen", i === chosen);
    node.title = `${label}: ${prob.toFixed(4)}${i === chosen ? ", chosen" : ""}`;
    if (node.ariaLabel) node.title += `. ${node.ariaLabel}`;
    node.style.setProperty("--size", `${100 * prob}%`);
    node.children[2].textContent = share;
  });
}

function showWeights(player, list, weights, step, n) {
  const width = weights.shape[1];
  [...list.children].forEach((node, i) => {
    node.classList.toggle("later", i >= n);
    if (i >= n) return;
    const weight = weights[step * width + i];
    shadeChip(node, weight, player.palette);
    node.lastChild.textContent = weight.toFixed(2);
    node.title = weight.toFixed(4);
  });
}

// Of the key that is pointed at, else of the one that this step looks at most.
function speak(player) {
  const { header, cross, own, pointed, playback } = player;
  const { read, target, sentences, layer, head, before, columns } = header;
  const step = playback.step;
  const query = columnAt(columns.read, before + step - 1); // read last, before this was written
  const key = keyOf(player, pointed, query);
  const isCross = cross && (key < 0 || pointed.side === "source");
  const weights = isCross ? cross : own;
  const row = weights.subarray(step * weights.shape[1], (step + 1) * weights.shape[1]);
  const at = key < 0 ? row.indexOf(Math.max(...row)) : key;
  const tokens = isCross
    ? { row: target[step], column: header.source[at] }
    : { row: read[query], column: read[at] };
  const why = key < 0 ? "The strongest of this step" : "Pointed at";
  const keys = isCross ? header.source : read.slice(0, query + 1);
  const cell = { ...tokens, layer, head, value: row[at], at: [step, at], keys, weights: row };
  say(player.sentence, saidOf(isCross ? sentences.cross : sentences.own, cell, why, key >= 0));
}

// The place of a token among the keys of this step; -1 where it is none of them.
function keyOf({ header }, { side, position }, query) {
  if (position === null) return -1;
  const { source, read } = header.columns;
  if (side === "source") return columnAt(source.length ? source : read, position);
  const place = columnAt(read, header.before + position);
  return place <= query ? place : -1;
}

function point(player, token) {
  player.pointed = token;
  if (player.header) speak(player);
  markPointed(player.root, token);
  const isColumn = token.side === "source" && token.position !== null && player.header;
  const { source, read } = isColumn ? player.header.columns : {};
  // In the text of a generator the prompt comes first.
  const column = isColumn ? columnAt(source.length ? source : read, token.position) : null;
  if (isColumn) markColumn((source.length ? player.source : player.read).children[column]);
  markOverviewColumn(player.overview, column);
}
