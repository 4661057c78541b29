// The same tree on a narrow screen: an indented list, a line for each run of words that nothing parts.

import { directionOf, element, setPiece } from "../kit/page.js";
import { nameOf, ranksOf } from "./nodes.js";
import { briefly, two } from "./readout.js";

const DEEPEST = 6; // steps of indentation

export function createList(choose) {
  const list = element("div", "list");
  list.onclick = ({ target }) => {
    const node = target.closest("[data-place]");
    if (node) choose(Number(node.dataset.place));
  };
  return list;
}

// opened: the names of what somebody has opened, which stays open where the list is drawn anew.
export function drawList(list, { search, opened }) {
  const lines = [];
  const focused = list.getRootNode().activeElement?.parentElement?.dataset.name;
  const add = (place, depth) => {
    const run = runFrom(search, place);
    lines.push(lineOf(search, run, depth), droppedAlong(search, run, depth, opened));
    const next = livingAfter(search, run.at(-1));
    for (const each of next) add(each, depth + 1);
  };
  for (const place of livingAfter(search, 0)) add(place, 0);
  lines.unshift(droppedAlong(search, [0], 0, opened));
  list.replaceChildren(...lines.filter(Boolean));
  const same = focused && [...list.querySelectorAll("details")].find((each) => each.dataset.name === focused);
  same?.firstChild.focus({ preventScroll: true });
}

function livingAfter({ nodes }, place) {
  return nodes[place].children.filter((each) => nodes[each].isLiving);
}

function runFrom(search, place) {
  const run = [place];
  for (let next = livingAfter(search, place); next.length === 1; next = livingAfter(search, next[0])) {
    run.push(next[0]);
  }
  return run;
}

function indented(node, depth) {
  node.style.setProperty("--depth", Math.min(depth, DEEPEST));
  return node;
}

function lineOf({ nodes }, run, depth) {
  const line = indented(element("div", "line"), depth);
  line.dir = directionOf(run.map((place) => nodes[place].piece));
  for (const place of run) line.append(wordButton(nodes[place]));
  const end = nodes[run.at(-1)];
  const { hypothesis, score } = end;
  if (hypothesis >= 0) {
    const both = element("span", "both");
    both.append(element("span", "rank", ranksOf(end)), " ", element("span", "score dim", two(score.total)));
    line.append(both);
  }
  return line;
}

function wordButton({ place, piece, logProb, isWritten, isLiving }) {
  const button = element("button", `word ${isWritten ? "written" : isLiving ? "living" : "dropped"}`);
  button.type = "button";
  button.dataset.place = place;
  const text = element("span", "piece");
  setPiece(text, piece);
  button.append(text, element("span", "share", briefly(logProb) || "–"));
  return button;
}

// What was dropped after the nodes of a run; made when somebody opens it.
function droppedAlong(search, run, depth, opened) {
  const { nodes } = search;
  const dropped = run.flatMap((place) => nodes[place].children).filter((each) => !nodes[each].isLiving);
  if (!dropped.length) return null;
  const details = indented(element("details", "dropped"), depth);
  const name = nameOf(search, run[0]);
  details.dataset.name = name;
  const summary = element("summary", "dim", `${dropped.length} dropped`);
  // Before it opens or closes: its own event comes too late where it is drawn anew at that moment.
  summary.onclick = () => {
    if (details.open) opened.delete(name);
    else opened.add(name);
    fill();
  };
  const fill = () => {
    if (details.childElementCount === 1) details.append(...dropped.map((place) => droppedLine(nodes[place])));
  };
  details.append(summary);
  details.open = opened.has(name);
  if (details.open) fill();
  return details;
}

function droppedLine(node) {
  const line = element("div", "line");
  line.append(wordButton(node), element("span", "why dim", node.reason));
  return line;
}
