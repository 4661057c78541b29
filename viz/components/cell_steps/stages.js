// The stages of a cell as elements: name and formula, drawing, numbers.

import { decimals, element } from "../kit/page.js";
import { marker, term } from "../kit/terms.js";

// "q_i^{s}" as nodes: _ lowers and ^ raises what follows, one character or a group in braces.
export function formula(text) {
  return text.split(/([_^](?:\{[^}]*\}|.))/).map((part, i) => {
    if (i % 2 === 0) return part;
    return element(part[0] === "_" ? "sub" : "sup", "", part.slice(1).replace(/[{}]/g, ""));
  });
}

export function createStages(cell) {
  let count = 0;
  const mark = marker(cell.root, { only: ["query", "key", "scale", "mask", "softmax", "weight", "value"] });
  const add = (title, written, group, ...drawing) =>
    createStage(++count, mark(title), written, group, drawing);
  const canvas = (name) => element("canvas", name);
  const share = "o_i = Σ_j a_{ij} v_j\nshare = a_{ij} v_j·o_i / ‖o_i‖²";
  return {
    vectors: add("query and key", "", "key", canvas("q"), canvas("k")),
    products: add("product", "q_i[d] k_j[d]", "key", canvas("tall")),
    running: add("running sum", "q_i·k_j = Σ_d q_i[d] k_j[d]", "key", canvas("tall")),
    scale: add("scale", "", "", canvas("lengths")),
    mask: add("mask", "s_{ij}, or −∞ if forbidden", "", canvas("mask")),
    softmax: add(
      "softmax",
      "a_{ij} = e^{sᵢⱼ} / Σ_{j′} e^{sᵢⱼ′}",
      "",
      cell.equation,
      cell.competitors,
    ),
    value: add("weight × value", "a_{ij} v_j, within v_j", "value", canvas("tall")),
    output: add("share of the output", share, "value", canvas("tall")),
    projected: createStage(
      ++count,
      [term("value_norm", "effect on the layer's output")],
      "‖a_{ij} v_j W_O‖ in ‖o_i W_O‖",
      "",
      [canvas("lengths")],
    ),
  };
}

function createStage(number, title, text, group, drawing) {
  const node = element("section", "stage");
  const name = element("div", "name");
  const heading = element("div", "heading");
  heading.append(element("span", "number dim", String(number)), ...title);
  const written = element("div", "formula dim");
  written.append(...formula(text));
  name.append(heading, written);
  const picture = element("div", "drawing");
  picture.append(...drawing);
  if (group) picture.dataset.group = group;
  const numbers = element("div", "numbers");
  node.append(name, picture, numbers);
  const canvases = drawing.filter((x) => x.tagName === "CANVAS");
  return { node, written, picture, numbers, canvases };
}

// What each stage says of the whole cell, wherever the reader points.
export function showWhole({ stages, header, q, allowed }) {
  const scale = header.scale_name || "scale";
  const dimensions = `${q.length} dimension${q.length === 1 ? "" : "s"}`;
  stages.vectors.written.replaceChildren(...formula(`q_i, k_j, ${dimensions}`));
  const bias = header.bias ? [["+ bias", "bias", header.bias]] : [];
  const sum = `s_{ij} = q_i·k_j × ${scale}${bias.length ? " + b_{ij}" : ""}`;
  stages.scale.written.replaceChildren(...formula(sum));
  const scaled = [`× ${scale}`, "scale", header.scale];
  setNumbers(stages.scale, scaled, ...bias, ["score", "score", header.score]);
  stages.mask.numbers.replaceChildren(...maskWords(header, allowed));
  stages.projected.node.hidden = !header.norms;
  if (!header.norms) return;
  const [ofPart, ofOutput] = header.norms;
  setNumbers(
    stages.projected,
    ["this key", "projected-part", ofPart],
    ["head", "projected-output", ofOutput],
  );
}

// The numbers of dimension d of q and k; null: of the whole vectors.
export function showKeyNumbers({ stages, header, q, k, products, running, top }, d) {
  const dot = ["q·k", "dot", header.dot];
  if (d === null) {
    setNumbers(stages.vectors, ["‖q‖", "q-norm", norm(q)], ["‖k‖", "k-norm", norm(k)]);
    setNumbers(stages.products, [`largest, d = ${top.key}`, "product", products[top.key]]);
    setNumbers(stages.running, dot);
  } else {
    setNumbers(stages.vectors, [`q[${d}]`, "q", q[d]], [`k[${d}]`, "k", k[d]]);
    setNumbers(stages.products, [`q[${d}] k[${d}]`, "product", products[d]]);
    setNumbers(stages.running, dot, [`sum to d = ${d}`, "running", running[d]]);
  }
}

// The numbers of dimension d of v; null: of the whole vectors.
export function showValueNumbers({ stages, header, value: v, part, output }, d) {
  const shares = [
    [`share, ${header.percent}`, "share", header.share],
    ["all keys' shares", "share-sum", header.share_sum],
  ];
  if (d === null) {
    setNumbers(stages.value, ["‖v‖", "v-norm", norm(v)], ["‖a v‖", "part-norm", norm(part)]);
    setNumbers(stages.output, ...shares, ["‖o‖", "output-norm", norm(output)]);
  } else {
    setNumbers(stages.value, [`v[${d}]`, "v", v[d]], [`a v[${d}]`, "part", part[d]]);
    setNumbers(stages.output, ...shares, [`o[${d}]`, "output", output[d]]);
  }
}

function setNumbers({ numbers }, ...rows) {
  numbers.replaceChildren(...rows.map((row) => figure(...row)));
}

function maskWords(header, allowed) {
  const word = header.is_masked
    ? element("div", "forbidden", "forbidden: weight 0")
    : element("div", "", "allowed");
  return [word, element("div", "dim", `${header.n_allowed} of ${allowed.length} keys allowed`)];
}

function figure(label, name, x) {
  const row = element("div", "figure");
  row.append(element("span", "dim", label), value(name, x));
  return row;
}

export function value(name, x) {
  const node = element("span", "value", decimals(x));
  node.dataset.number = name;
  return node;
}

function norm(vector) {
  return Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
}
