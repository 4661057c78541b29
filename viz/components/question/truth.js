// The answer in a sentence, and what each guess costs.

import { element } from "../kit/page.js";
import { cost, costOfLogs } from "./points.js";

const REVEALED = "headscope:revealed"; // it is there: the picture may follow

// tally: of a room in which somebody has answered, else null.
export function tellTruth({ root, said, points, truth }, tally) {
  const parts = [];
  const yours = cost(truth.weights, points);
  if (yours !== null) parts.push(element("b", "", `Your points cost ${nats(yours)}`), " · ");
  if (tally) parts.push(...ofRoom(truth.weights, tally));
  const known = [["uniform", truth.uniform], ["previous word", truth.previous], ["at best", truth.least]];
  const others = known.map(([name, value]) => `${name} ${nats(value)}`).join(" · ");
  said.replaceChildren(`${truth.says} `, ...parts, element("span", "others", `${others} (less is better)`));
  root.dispatchEvent(new CustomEvent(REVEALED, { bubbles: true, composed: true }));
}

function ofRoom(weights, { points, logs, answered }) {
  const together = `The room's points together cost ${nats(cost(weights, points))}`;
  const each = `mean over ${answered} ${answered === 1 ? "person" : "people"} ${nats(costOfLogs(weights, logs))}`;
  return [element("b", "", together), ` · ${each} · `];
}

function nats(value) {
  return `${value.toFixed(2)} nats`;
}
