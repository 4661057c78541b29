// A metric of every head over the steps, and below it the loss, under one cursor.

import { element } from "../kit/page.js";
import { isOnStage, typeSize } from "../kit/room.js";
import { term } from "../kit/terms.js";
import { PLOT, labelledSteps, linePath, stepScale, svg, valueScale } from "./axis.js";
import { chosenHead, count, metricText } from "./words.js";

const HEIGHTS = { metric: 196, loss: 96 }; // px of the two plots, without the labels of the axis
const STAGE_TYPE = 24; // px of type at which they are as high on a stage
const TOPS = { metric: 24, loss: 8 }; // px above the lines: a strip for the name of the role

// choose(place) is asked for when a step is pressed or dragged over.
export function createCurves(choose) {
  const curves = { node: element("section", "curves"), plots: [] };
  curves.plots = ["metric", "loss"].map((name) => {
    const plot = { name, title: element("h3"), box: element("div", `plot ${name}`) };
    plot.box.setAttribute("role", "img");
    plot.said = element("span");
    if (name === "loss") plot.title.append("Loss (", term("nats", "nats"), " per token): ", plot.said);
    curves.node.append(plot.title, plot.box);
    const pressed = (event) => {
      const x = event.clientX - plot.box.getBoundingClientRect().left;
      choose(nearestPlace(curves, x));
    };
    plot.box.onpointerdown = pressed;
    plot.box.onpointermove = (event) => event.buttons & 1 && pressed(event);
    return plot;
  });
  return curves;
}

function nearestPlace({ steps, x }, at) {
  const distances = steps.map((step) => Math.abs(x(step) - at));
  return distances.indexOf(Math.min(...distances));
}

export function drawCurves(curves, data) {
  const { header, losses } = data;
  const [metric, loss] = curves.plots;
  const hasLoss = losses.some(({ rows }) => rows.length);
  loss.title.hidden = loss.box.hidden = !hasLoss;
  const scale = stepScale(header.steps);
  const width = metric.box.clientWidth;
  const x = (step) => PLOT.left + (width - PLOT.left - PLOT.right) * scale.at(step);
  Object.assign(curves, { steps: header.steps, x, shift: scale.shift });
  drawMetric(metric, data, curves, width, !hasLoss);
  if (hasLoss) drawLosses(loss, data, curves, width);
}

function startPlot(plot, width, most, curves, hasLabels, write) {
  const [height, top] = [heightOf(plot.name), TOPS[plot.name]];
  const whole = height + (hasLabels ? 2 * lineHeight() + 2 : 0);
  const root = svg("svg", { width, height: whole, viewBox: `0 0 ${width} ${whole}` });
  root.setAttribute("aria-hidden", "true");
  const scale = valueScale(most, height, top);
  for (const value of scale.ticks) {
    const y = scale.at(value);
    root.append(svg("line", { class: "grid", x1: PLOT.left, x2: width - PLOT.right, y1: y, y2: y }));
    root.append(svg("text", { class: "tick", x: PLOT.left - 8, y: y + 4, "text-anchor": "end" }, write(value)));
  }
  if (hasLabels) root.append(...stepLabels(curves, height, width));
  plot.cursor = svg("line", { class: "cursor", y1: top, y2: height - PLOT.bottom });
  plot.box.replaceChildren(root);
  return { root, y: scale.at };
}

// On a stage as large a part of every screen.
function heightOf(name) {
  return isOnStage() ? (HEIGHTS[name] * typeSize()) / STAGE_TYPE : HEIGHTS[name];
}

// Of a label of the axis, in px.
function lineHeight() {
  return Math.max(16, Math.round(typeSize()));
}

function stepLabels({ steps, x, shift }, height, width) {
  const y = height - PLOT.bottom;
  const marks = steps.map((step) => svg("line", { class: "mark", x1: x(step), x2: x(step), y1: y, y2: y + 4 }));
  const labels = labelledSteps(steps, x, typeSize()).map((i) => {
    const edge = i === steps.length - 1 && steps.length > 1;
    const place = { x: edge ? width - 2 : x(steps[i]), "text-anchor": edge ? "end" : "middle" };
    return svg("text", { class: "tick", y: y + 1 + lineHeight(), ...place }, count(steps[i]));
  });
  const middle = { x: (PLOT.left + width - PLOT.right) / 2, "text-anchor": "middle" };
  const title = `step, as log (step + ${count(shift)})`;
  return [...marks, ...labels, svg("text", { class: "tick", y: y + 1 + 2 * lineHeight(), ...middle }, title)];
}

function drawMetric(plot, { header, numbers }, curves, width, hasLabels) {
  const { metric, heads, steps, roles } = header;
  const chosen = chosenHead(header);
  const known = [...numbers, metric.even ?? 0].filter((value) => !Number.isNaN(value));
  const write = (value) => (metric.unit === "share" ? `${Math.round(100 * value)} %` : String(value));
  const { root, y } = startPlot(plot, width, 1.06 * Math.max(...known), curves, hasLabels, write);
  if (metric.even !== null) root.append(evenLine(metric, width, y));
  const at = (i, place) => numbers[place * heads.length + i];
  const curve = (i) => linePath(steps.map((step, place) => [curves.x(step), y(at(i, place))]));
  plot.paths = heads.map((_, i) => svg("path", { class: i === chosen ? "chosen" : "other", d: curve(i) }));
  heads.forEach((_, i) => {
    if (i === chosen) return;
    root.append(plot.paths[i]);
    if (roles[i] >= 0) root.append(dot("role", curves.x(steps[roles[i]]), y(at(i, roles[i])), 2.5));
  });
  if (roles[chosen] >= 0) root.append(...roleMark(header, curves, width, chosen));
  root.append(plot.cursor, plot.paths[chosen]);
  steps.forEach((step, place) => {
    if (!Number.isNaN(at(chosen, place))) root.append(dot("point", curves.x(step), y(at(chosen, place)), 2.5));
  });
  plot.ring = dot("ring", 0, 0, 5.5);
  root.append(plot.ring);
  plot.y = y;
  plot.box.setAttribute("aria-label", metricSentence(header, chosen));
}

function dot(name, cx, cy, r) {
  return svg("circle", { class: name, cx, cy, r });
}

// What a head would have that tells no key from another.
function evenLine(metric, width, y) {
  const at = y(metric.even);
  return svg("line", { class: "even", x1: PLOT.left, x2: width - PLOT.right, y1: at, y2: at });
}

// A flag in the strip above the lines, which no curve reaches.
function roleMark({ steps, roles }, { x }, width, chosen) {
  const at = x(steps[roles[chosen]]);
  const isRight = at > width / 2;
  const text = `takes on its role: step ${count(steps[roles[chosen]])}`;
  const place = { x: at + (isRight ? -6 : 6), y: Math.min(18, typeSize() - 1), "text-anchor": isRight ? "end" : "start" };
  return [
    svg("line", { class: "role-line", x1: at, x2: at, y1: 3, y2: heightOf("metric") - PLOT.bottom }),
    svg("text", { class: "role-name", ...place }, text),
  ];
}

function metricSentence(header, chosen) {
  const { metric, steps, name, roles } = header;
  const value = (place) => metricText(header, place, chosen);
  const role = roles[chosen] < 0 ? "it hardly changes" : `it takes on its role at step ${count(steps[roles[chosen]])}`;
  const last = steps.length - 1;
  return (
    `${metric.title} of ${name} over the steps: ${value(0)} at step ${count(steps[0])}, ` +
    `${value(last)} at step ${count(steps[last])}; ${role}.`
  );
}

function drawLosses(plot, { header, losses }, curves, width) {
  const last = header.steps.at(-1);
  plot.losses = losses.map(({ title, rows }) => ({ title, points: pairs(rows).filter(([step]) => step <= last) }));
  const most = Math.max(...plot.losses.flatMap(({ points }) => points.map(([, value]) => value)));
  const { root, y } = startPlot(plot, width, 1.06 * most, curves, true, String);
  plot.losses.forEach(({ points }, i) => {
    const places = points.map(([step, value]) => [curves.x(step), y(value)]);
    if (i === 0) root.append(svg("path", { class: "loss", d: linePath(places) }));
    else root.append(...places.map(([cx, cy]) => dot("validation", cx, cy, 3)));
  });
  root.append(plot.cursor);
  plot.box.setAttribute("aria-label", lossSentence(plot.losses));
}

function pairs(rows) {
  return Array.from({ length: rows.length / 2 }, (_, i) => [rows[2 * i], rows[2 * i + 1]]);
}

function lossSentence(losses) {
  const said = losses.filter(({ points }) => points.length).map(({ title, points }) => {
    const [[first, from], [last, to]] = [points[0], points.at(-1)];
    return `${title} from ${from.toFixed(2)} nats at step ${count(first)} to ${to.toFixed(2)} at step ${count(last)}`;
  });
  return `${said.join("; ")}.`;
}

export function showCurves(curves, data, place) {
  const { header, numbers } = data;
  const [metric, loss] = curves.plots;
  const step = header.steps[place];
  const at = curves.x(step);
  for (const { cursor } of curves.plots) {
    cursor?.setAttribute("x1", at);
    cursor?.setAttribute("x2", at);
  }
  const chosen = chosenHead(header);
  const value = numbers[place * header.heads.length + chosen];
  metric.ring.setAttribute("cx", at);
  metric.ring.setAttribute("cy", Number.isNaN(value) ? -99 : metric.y(value));
  const named = element("strong", "", metricText(header, place, chosen));
  const { name, title, even, even_text: evenText } = header.metric;
  if (metric.word?.dataset.word !== name) metric.word = term(name, title);
  const dotted = even === null ? "" : ` · dotted: evenly spread, ${evenText}`;
  const rest = [` of ${header.name}: `, named, ` at step ${count(step)}${dotted}`];
  if (metric.title.firstChild !== metric.word) metric.title.replaceChildren(metric.word);
  while (metric.word.nextSibling) metric.word.nextSibling.remove();
  metric.title.append(...rest);
  if (!loss.box.hidden) loss.said.textContent = lossAt(loss.losses, step);
}

// The curve of one head, or of none (-1), stands out.
export function pointCurve({ plots: [metric] }, head) {
  metric.paths?.forEach((path, i) => path.classList.toggle("pointed", i === head));
}

// The training loss where it was logged nearest to a step.
function lossAt([training, validation], step) {
  const said = validation.points.length ? ["circles: validation"] : [];
  if (training.points.length) {
    const nearer = (a, b) => (Math.abs(b[0] - step) < Math.abs(a[0] - step) ? b : a);
    const [at, value] = training.points.reduce(nearer);
    said.unshift(`training ${value.toFixed(2)} at step ${count(at)}`);
  }
  return said.join(" · ");
}
