// Numbers of a training, and of its heads, as text.

// Which of the small pictures is the chosen head.
export function chosenHead({ heads, layer, head }) {
  return heads.findIndex(([l, h]) => l === layer && h === head);
}

export function count(n) {
  return n.toLocaleString("en");
}

// As Metric.text writes it.
export function metricText({ unit }, value) {
  if (Number.isNaN(value)) return "—";
  return unit === "share" ? `${(100 * value).toFixed(0)} %` : `${value.toFixed(2)} ${unit}`;
}

// Without the unit that stands beside it.
export function briefText(metric, value) {
  return metric.unit === "share" ? metricText(metric, value) : metricText(metric, value).split(" ")[0];
}
