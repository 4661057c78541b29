// Numbers of a training, and of its heads, as text.

// Which of the small pictures is the chosen head.
export function chosenHead({ heads, layer, head }) {
  return heads.findIndex(([l, h]) => l === layer && h === head);
}

export function count(n) {
  return n.toLocaleString("en");
}

// The metric of one of the small pictures' heads at a snapshot.
export function metricText({ metric, heads }, place, i) {
  return metric.texts[place * heads.length + i];
}

// Without the unit that stands beside it.
export function briefText(header, place, i) {
  const text = metricText(header, place, i);
  return header.metric.unit === "share" ? text : text.split(" ")[0];
}
