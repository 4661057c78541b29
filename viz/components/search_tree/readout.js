// One line on the node that is pointed at, the tools beside it, and below the tree what its looks mean.

import { element, setPiece } from "../kit/page.js";

const RULED = 1e-3; // nats by which the rules that a folder has for writing change a path; less is rounding

export function createReadout({ branch, zoom, fit, bare }) {
  const text = element("p", "facts");
  const tools = element("div", "tools");
  tools.dataset.control = "";
  const add = (name, label, title, action) => {
    const button = element("button", name, label);
    Object.assign(button, { type: "button", title, onclick: action });
    if (label.length < 2) button.setAttribute("aria-label", title);
    tools.append(button);
    return button;
  };
  const readout = { text, tools };
  readout.branch = add("branch", "Go on from here", "Go on from the node that is chosen", branch);
  readout.bare = add("bare", "Hide dropped", "Hide what was dropped", bare);
  readout.zooms = [
    add("out", "−", "Smaller", () => zoom(0.8)),
    add("in", "+", "Larger", () => zoom(1.25)),
    add("fit", "Fit", "As much as fits", fit),
  ];
  readout.foot = element("p", "foot dim");
  return readout;
}

export function readOut(readout, view) {
  const { search, pointed, at, chosen, isBare, root } = view;
  const isList = root.classList.contains("listed");
  const place = pointed ?? chosen ?? at;
  const node = place === null || place < 0 ? null : search.nodes[place];
  readout.text.replaceChildren(...(node && node.place ? factsOf(node) : [nothing(search, place)]));
  readout.branch.disabled = chosen === null;
  readout.bare.textContent = `${isBare ? "Show" : "Hide"} dropped`;
  readout.bare.title = `${readout.bare.textContent} nodes`;
  for (const button of [readout.bare, ...readout.zooms]) button.hidden = isList;
  readout.foot.replaceChildren(...footOf(search));
}

function nothing({ nodes, fold, words }, place) {
  if (place < 0) return `All hypotheses share these ${fold.length} ${words ? "words" : "tokens"}.`;
  const n = nodes.filter(({ hypothesis }) => hypothesis >= 0).length;
  return `${n === 1 ? "One hypothesis" : `${n} hypotheses`}: point at a node to see what became of it.`;
}

// A piece is data: it is only ever set as text.
function factsOf(node) {
  const piece = element("b", "piece");
  setPiece(piece, node.piece);
  return [piece, ` ${facts(node).join(" · ")}`];
}

function facts({ logProb, path, score, reason, hypothesis, ranks, isForced, isWritten, isLiving }) {
  const { total, sum, divisor, coverage } = score;
  const parts = [
    ...(divisor === 1 ? [] : [`/ ${two(divisor)}`]),
    ...(coverage ? [`− ${two(-coverage)}`] : []),
  ];
  return [
    exactly(logProb),
    `${two(logProb)} nats`,
    `path ${two(path)} nats`,
    ...(Math.abs(sum - path) > RULED ? [`after the rules ${two(sum)}`] : []),
    ...(parts.length ? [`score ${two(total)} = ${[two(sum), ...parts].join(" ")}`] : []),
    ...(isForced ? ["forced"] : []),
    ...(hypothesis >= 0 ? [`${ranks.length > 1 ? "hypotheses" : "hypothesis"} ${ranks.join(", ")}`] : []),
    reason ? `dropped: ${reason}` : isWritten ? "written" : isLiving ? "kept" : "left",
  ];
}

// A node as it is spoken.
export function spoken(node) {
  if (!node.place) return "The beginning";
  return `${node.piece[0]}: ${facts(node).join(", ")}`;
}

function footOf({ nLeftOut, bySeed, nodes }) {
  const look = (name, text) => {
    const node = element("span", `look ${name}`, text);
    return node;
  };
  const left = nLeftOut ? [` ${nLeftOut.toLocaleString("en")} more were dropped and are not drawn.`] : [];
  const ends = bySeed ? "number in the order of the seeds, and score" : "rank and score";
  const others = nodes.some(({ isLiving, isWritten }) => isLiving && !isWritten);
  return [
    look("written", "written"),
    ...(others ? [look("living", "other hypotheses")] : []),
    look("dropped", "dropped"),
    `With each node its probability, from 0.1 % on; at the end of each line ${ends}.`,
    ...left,
  ];
}

export function two(number) {
  const text = number.toFixed(2);
  return Number(text) === 0 ? "0.00" : text.replace("-", "−");
}

// A probability with three digits that count, as viz/labels.py writes it.
function exactly(logProb) {
  const percent = 100 * Math.exp(logProb);
  if (percent < 1e-4) return percent > 0 ? "< 0.0001 %" : "0 %";
  return `${percent.toFixed(Math.max(1, 2 - Math.floor(Math.log10(percent))))} %`;
}

// A probability as an edge has room for it: nothing where it is below 0.1 %.
export function briefly(logProb) {
  const percent = 100 * Math.exp(logProb);
  if (percent < 0.1) return "";
  return `${percent < 10 ? percent.toFixed(1) : Math.min(99, Math.round(percent))}\u2009%`;
}
