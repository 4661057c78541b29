// The softmax of one row: its equation, and each key as a button with its score and weight.

import { bars } from "../kit/illustrations.js";
import { decimals, element, setPiece } from "../kit/page.js";
import { formula, value } from "./stages.js";

export function showSoftmax(cell) {
  const { header, competitors, root } = cell;
  const [nRest, restWeight] = header.rest;
  const hadFocus = competitors.contains(root.getRootNode().activeElement);
  const largest = Math.max(...cell.weights, restWeight) || 1; // all bars are on one scale
  const items = header.labels.map((label, i) => competitor(cell, label, cell.shown[i], largest));
  if (nRest) items.push(restBar(nRest, restWeight, largest));
  competitors.replaceChildren(...items);
  competitors.setAttribute("aria-label", `Keys of this query, ${header.n_allowed} allowed`);
  if (hadFocus) competitors.querySelector("[aria-current]").focus();
  showEquation(cell);
}

function showEquation({ equation, header, weights }) {
  const shifted = (s) => (header.shift ? `${s} − ${decimals(header.shift)}` : s);
  const terms = element("span");
  if (header.n_allowed === 0) {
    terms.append("every key is masked: all weights are ", value("weight", header.weight));
  } else {
    const own = header.is_masked ? "−∞" : shifted(decimals(header.score));
    terms.append(...formula(`e^{${own}} / Σ e^{${shifted("s")}} = `));
    terms.append(value("exp", header.exp), " / ", value("exp-sum", header.exp_sum));
    terms.append(" = ", value("weight", header.weight));
  }
  const sum = element("span", "dim", "all weights ");
  sum.append(value("weight-sum", weights.reduce((total, x) => total + x, 0)));
  equation.replaceChildren(terms, sum);
}

function competitor(cell, label, key, largest) {
  const chosen = key === cell.header.cell[1];
  const node = element("button", "competitor");
  node.type = "button";
  node.dataset.key = key;
  node.tabIndex = chosen ? 0 : -1; // one stop for all; arrow keys go on from there
  if (chosen) node.setAttribute("aria-current", "true");
  const score = cell.allowed[key] ? decimals(cell.scores[key]) : "masked";
  const weight = decimals(cell.weights[key]);
  node.setAttribute("aria-label", `${label[0]}: score ${score}, weight ${weight}`);
  fillCompetitor(node, label, score, weight, cell.weights[key] / largest);
  return node;
}

function restBar(n, weight, largest) {
  const node = element("div", "competitor rest");
  fillCompetitor(node, [`${n.toLocaleString("en")} others`, 1], "", decimals(weight), weight / largest);
  return node;
}

function fillCompetitor(node, label, score, weight, size) {
  const piece = element("span", "piece");
  setPiece(piece, label);
  const track = element("span", "track");
  track.append(element("span", "fill"));
  track.style.setProperty("--size", `${100 * Math.min(1, size)}%`);
  node.append(piece, element("span", "score", score), element("span", "weight", weight), track);
}

// For cards: the weights of the row.
export function illustrateRow({ header, shown, weights, allowed }) {
  const { layer, head, cell: [, chosen], labels, query_token: query, rest: [nRest, restWeight] } = header;
  const items = Array.from(shown, (key, i) => {
    return { piece: labels[i], value: allowed[key] ? weights[key] : NaN, text: decimals(weights[key]), isMarked: key === chosen };
  });
  const rest = (n, others) => {
    const sum = others.reduce((total, { value: each }) => total + (each || 0), restWeight);
    return `${(n + nRest).toLocaleString("en")} others: ${decimals(sum)}`;
  };
  return bars(query, `in head ${head} of layer ${layer}`, items, rest);
}

export function choose(cell, button) {
  if (!button || button.hasAttribute("aria-current")) return;
  cell.ask(Number(button.dataset.key));
}
