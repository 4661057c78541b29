// The answer in a sentence, and what each guess costs.

import { element } from "../kit/page.js";
import { cost, costOfLogs } from "./points.js";

const REVEALED = "headscope:revealed"; // it is there: the picture may follow

// tally: of a room in which somebody has answered, else null.
export function tellTruth({ root, said, points, truth }, tally) {
  const yours = cost(truth.weights, points);
  said.replaceChildren(`${truth.says} `, ...(tally ? ofRoom(truth, yours, tally) : ofOne(truth, yours)));
  root.dispatchEvent(new CustomEvent(REVEALED, { bubbles: true, composed: true }));
}

function ofOne(truth, yours) {
  const others = known(truth).map(([name, value]) => `${name} ${nats(value)}`);
  const own = yours === null ? [] : [element("b", "", `Your points cost ${nats(yours)}`), " · "];
  const rest = `${others.join(" · ")} (less is better)`;
  return own.length ? [...own, rest] : [rest.replace(/^./, (first) => first.toUpperCase())];
}

// In one line of a wall.
function ofRoom(truth, yours, { points, logs, answered }) {
  const people = answered === 1 ? "1 person" : `${answered} people`;
  const others = [[`mean over ${people}`, costOfLogs(truth.weights, logs)], ...known(truth)];
  const own = yours === null ? [] : [element("b", "", `your points ${yours.toFixed(2)}`), " · "];
  const together = element("b", "", `the room's points together ${cost(truth.weights, points).toFixed(2)}`);
  const rest = others.map(([name, value]) => ` · ${name} ${value.toFixed(2)}`);
  return ["In nats, less is better: ", ...own, together, ...rest];
}

function known({ uniform, previous, least }) {
  return [["uniform", uniform], ["previous word", previous], ["at best", least]];
}

function nats(value) {
  return `${value.toFixed(2)} nats`;
}
