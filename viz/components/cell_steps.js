// Inside one cell: numbered stages from q and k to a share of the head's output.

const cells = new WeakMap();
const sub = (text) => element("sub", "", text);
const sup = (text) => element("sup", "", text);

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".cell-steps");
  if (!cells.has(root)) cells.set(root, create(root));
  const cell = cells.get(root);
  cell.ask = (key) => setTriggerValue("cell", [cell.header.cell[0], key]);
  update(cell, openEnvelope(data));
  return () => {
    cell.dispose();
    cells.delete(root);
    root.replaceChildren();
  };
}

function create(root) {
  const cell = { root, marks: { key: null, value: null }, focused: { key: null, value: null } };
  cell.sentence = element("p", "hidden-text");
  cell.title = element("div", "title");
  cell.equation = element("div", "equation");
  cell.competitors = element("div", "competitors");
  cell.competitors.setAttribute("role", "group");
  cell.scaleFormula = element("span");
  cell.nDimensions = element("span");
  cell.stages = createStages(cell);
  cell.stages.vectors.node.classList.add("vectors");
  cell.stages.softmax.node.classList.add("wide");
  const list = element("div", "stages");
  list.append(...Object.values(cell.stages).map(({ node }) => node));
  root.replaceChildren(cell.sentence, cell.title, list);
  listen(cell);
  return cell;
}

function createStages(cell) {
  let count = 0;
  const add = (title, formula, group, ...drawing) =>
    createStage(++count, title, formula, group, drawing);
  const canvas = (name) => element("canvas", name);
  return {
    vectors: add(
      "query and key",
      ["q", sub("i"), ", k", sub("j"), ", ", cell.nDimensions],
      "key",
      canvas("q"),
      canvas("k"),
    ),
    products: add("product", ["q", sub("i"), "[d] k", sub("j"), "[d]"], "key", canvas("tall")),
    running: add(
      "running sum",
      ["q", sub("i"), "·k", sub("j"), " = Σ", sub("d"), " q", sub("i"), "[d] k", sub("j"), "[d]"],
      "key",
      canvas("tall"),
    ),
    scale: add("scale", [cell.scaleFormula], "", canvas("lengths")),
    mask: add("mask", ["s", sub("ij"), ", or −∞ if forbidden"], "", canvas("mask")),
    softmax: add(
      "softmax",
      ["a", sub("ij"), " = e", sup("sᵢⱼ"), " / Σ", sub("j′"), " e", sup("sᵢⱼ′")],
      "",
      cell.equation,
      cell.competitors,
    ),
    value: add(
      "weight × value",
      ["a", sub("ij"), " v", sub("j"), ", within v", sub("j")],
      "value",
      canvas("tall"),
    ),
    output: add(
      "share of the output",
      [
        ...["o", sub("i"), " = Σ", sub("j"), " a", sub("ij"), " v", sub("j"), element("br")],
        ...["share = a", sub("ij"), " v", sub("j"), "·o", sub("i"), " / ‖o", sub("i"), "‖²"],
      ],
      "value",
      canvas("tall"),
    ),
    projected: add(
      ["through W", sub("O")],
      ["‖a", sub("ij"), " v", sub("j"), " W", sub("O"), "‖ in ‖o", sub("i"), " W", sub("O"), "‖"],
      "",
      canvas("lengths"),
    ),
  };
}

function createStage(number, title, formula, group, drawing) {
  const node = element("section", "stage");
  const name = element("div", "name");
  const heading = element("div", "heading");
  heading.append(element("span", "number dim", String(number)), ...[title].flat());
  const written = element("div", "formula dim");
  written.append(...formula);
  name.append(heading, written);
  const picture = element("div", "drawing");
  picture.append(...drawing);
  if (group) picture.dataset.group = group;
  const numbers = element("div", "numbers");
  node.append(name, picture, numbers);
  return { node, picture, numbers, canvases: drawing.filter((x) => x.tagName === "CANVAS") };
}

// The first drawing of each group is a slider: its dimensions can be walked through by keyboard.
function listen(cell) {
  const { root, stages, competitors } = cell;
  cell.sliders = { key: stages.vectors.picture, value: stages.value.picture };
  for (const [group, slider] of Object.entries(cell.sliders)) {
    slider.setAttribute("role", "slider");
    slider.setAttribute("aria-label", group === "key" ? "Dimension of q and k" : "Dimension of v");
    slider.tabIndex = 0;
    slider.onfocus = () => focusDimension(cell, group, strongest(cell, group));
    slider.onblur = () => focusDimension(cell, group, null);
    slider.onkeydown = (event) => walkDimensions(cell, group, event);
  }
  const moved = (event) => point(cell, event);
  root.onpointermove = moved;
  root.onpointerdown = moved;
  root.onpointerleave = moved;
  competitors.onclick = ({ target }) => choose(cell, target.closest("button"));
  competitors.onkeydown = (event) => walkCompetitors(cell, event);
  const observer = new ResizeObserver(() => draw(cell));
  observer.observe(root);
  cell.dispose = () => observer.disconnect();
}

function update(cell, { nonce, palette, signs, payload }) {
  const drawn = `${nonce} ${palette.name}`;
  if (drawn === cell.drawn) return;
  const { header, arrays } = unpack(payload);
  const [q, k, products, running, value, part, output, scores, weights, allowed, shown] = arrays;
  const vectors = { q, k, products, running, value, part, output };
  Object.assign(cell, vectors, { drawn, nonce, header, scores, weights, allowed, shown });
  cell.colours = { ...palette, ...signs };
  cell.marks = { key: null, value: null };
  applyPalette(cell.root, cell.colours);
  cell.sentence.textContent = header.sentence;
  showTitle(cell);
  showSoftmax(cell);
  cell.scaleFormula.replaceChildren(
    ...["s", sub("ij"), " = q", sub("i"), "·k", sub("j"), " × ", header.scale_name || "scale"],
  );
  cell.nDimensions.textContent = `${q.length} dimension${q.length === 1 ? "" : "s"}`;
  cell.stages.projected.node.hidden = !header.norms;
  for (const group of ["key", "value"]) {
    cell.sliders[group].setAttribute("aria-valuemin", 0);
    cell.sliders[group].setAttribute("aria-valuemax", length(cell, group) - 1);
    mark(cell, group, cell.focused[group] === null ? null : strongest(cell, group));
  }
  draw(cell);
}

function showTitle({ title, header }) {
  const [from, to] = [element("span", "chip"), element("span", "chip")];
  setPiece(from, header.query_token);
  setPiece(to, header.key_token);
  title.replaceChildren(
    element("strong", "", header.place),
    element("span", "dim", header.is_produced ? " writing " : " "),
    from,
    element("span", "dim", " asks "),
    to,
  );
}

function showSoftmax(cell) {
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
  const shifted = (s) => (header.shift ? `${s} − ${number(header.shift)}` : s);
  const terms = element("span");
  if (header.n_allowed === 0) {
    terms.append("every key is masked: all weights are ", value("weight", header.weight));
  } else {
    terms.append(
      "e", sup(header.is_masked ? "−∞" : shifted(number(header.score))),
      " / Σ e", sup(shifted("s")),
      " = ", value("exp", header.exp), " / ", value("exp-sum", header.exp_sum),
      " = ", value("weight", header.weight),
    );
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
  const score = cell.allowed[key] ? number(cell.scores[key]) : "masked";
  const weight = number(cell.weights[key]);
  node.setAttribute("aria-label", `${label[0]}: score ${score}, weight ${weight}`);
  fillCompetitor(node, label, score, weight, cell.weights[key] / largest);
  return node;
}

function restBar(n, weight, largest) {
  const node = element("div", "competitor rest");
  fillCompetitor(node, [`${n.toLocaleString("en")} others`, 1], "", number(weight), weight / largest);
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

function choose(cell, button) {
  if (!button || button.hasAttribute("aria-current")) return;
  cell.ask(Number(button.dataset.key));
}

function walkCompetitors({ competitors }, event) {
  const buttons = [...competitors.querySelectorAll("button")];
  const at = buttons.indexOf(event.target.closest("button"));
  const to = stepped(event.key, at, buttons.length);
  if (to === null) return;
  event.preventDefault();
  event.stopPropagation();
  buttons[at].tabIndex = -1;
  buttons[to].tabIndex = 0;
  buttons[to].focus();
}

// Where an arrow key, Home or End leads from `at` among n; null for any other key.
function stepped(key, at, n) {
  const to = { ArrowLeft: at - 1, ArrowUp: at - 1, ArrowRight: at + 1, ArrowDown: at + 1 }[key];
  if (key === "Home") return 0;
  if (key === "End") return n - 1;
  return to === undefined ? null : Math.min(n - 1, Math.max(0, to));
}

function point(cell, event) {
  const drawing = event.target.closest?.("[data-group]");
  for (const group of ["key", "value"]) {
    let d = cell.focused[group];
    if (drawing?.dataset.group === group && event.type !== "pointerleave") {
      const box = drawing.getBoundingClientRect();
      const n = length(cell, group);
      d = Math.min(n - 1, Math.max(0, Math.floor((n * (event.clientX - box.left)) / box.width)));
    }
    if (d === cell.marks[group]) continue;
    mark(cell, group, d);
    draw(cell);
  }
}

function focusDimension(cell, group, d) {
  cell.focused[group] = d;
  mark(cell, group, d);
  draw(cell);
}

function walkDimensions(cell, group, event) {
  const to = stepped(event.key, cell.marks[group] ?? 0, length(cell, group));
  if (to === null) return;
  event.preventDefault();
  event.stopPropagation();
  focusDimension(cell, group, to);
}

function length(cell, group) {
  return (group === "key" ? cell.q : cell.value).length;
}

// The dimension that matters most: of the largest product, or of the largest part of the output.
function strongest(cell, group) {
  const sizes = (group === "key" ? cell.products : cell.part).map(Math.abs);
  return sizes.indexOf(Math.max(...sizes));
}

function mark(cell, group, d) {
  cell.marks[group] = d;
  const slider = cell.sliders[group];
  slider.setAttribute("aria-valuenow", d ?? 0);
  slider.setAttribute("aria-valuetext", spoken(cell, group, d ?? 0));
  showNumbers(cell);
}

function spoken(cell, group, d) {
  const { q, k, products, running, value: v, part, output } = cell;
  const said =
    group === "key"
      ? { q: q[d], k: k[d], product: products[d], "sum so far": running[d] }
      : { v: v[d], "weight times v": part[d], output: output[d] };
  const numbers = Object.entries(said).map(([name, x]) => `${name} ${number(x)}`);
  return `dimension ${d}: ${numbers.join(", ")}`;
}

// The numbers beside each drawing: of the marked dimension, or of the whole.
function showNumbers(cell) {
  const { header, stages, q, k, products, running, value: v, part, output } = cell;
  const { key: d, value: e } = cell.marks;
  const set = ({ numbers }, ...rows) => numbers.replaceChildren(...rows.map((row) => figure(...row)));
  const top = strongest(cell, "key");
  const atKey = d !== null;
  const atValue = e !== null;
  set(stages.vectors, ...(atKey
    ? [[`q[${d}]`, "q", q[d]], [`k[${d}]`, "k", k[d]]]
    : [["‖q‖", "q-norm", norm(q)], ["‖k‖", "k-norm", norm(k)]]));
  set(stages.products, atKey
    ? [`q[${d}] k[${d}]`, "product", products[d]]
    : [`largest, d = ${top}`, "product", products[top]]);
  set(stages.running, ["q·k", "dot", header.dot],
    ...(atKey ? [[`sum to d = ${d}`, "running", running[d]]] : []));
  set(stages.scale, [`× ${header.scale_name || "scale"}`, "scale", header.scale], ["score", "score", header.score]);
  stages.mask.numbers.replaceChildren(...maskWords(cell));
  set(stages.value, ...(atValue
    ? [[`v[${e}]`, "v", v[e]], [`a v[${e}]`, "part", part[e]]]
    : [["‖v‖", "v-norm", norm(v)], ["‖a v‖", "part-norm", norm(part)]]));
  set(stages.output, [`share, ${header.percent}`, "share", header.share],
    ["all keys' shares", "share-sum", header.share_sum],
    atValue ? [`o[${e}]`, "output", output[e]] : ["‖o‖", "output-norm", norm(output)]);
  if (header.norms) {
    set(stages.projected, ["this key", "projected-part", header.norms[0]],
      ["head", "projected-output", header.norms[1]]);
  }
}

function maskWords({ header, allowed }) {
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

function value(name, x) {
  const node = element("span", "value", number(x));
  node.dataset.number = name;
  return node;
}

// Four decimals, with a real minus sign, and none before zero.
function number(x) {
  const text = x.toFixed(4);
  return Number(text) === 0 ? "0.0000" : text.replace("-", "−");
}

function norm(vector) {
  return Math.sqrt(vector.reduce((sum, x) => sum + x * x, 0));
}

function draw(cell) {
  if (!cell.header || !cell.root.clientWidth) return; // not shown; the observer calls again
  const { stages, colours, header, marks, q, k, products, running, value: v, part, output } = cell;
  const [canvasQ, canvasK] = stages.vectors.canvases;
  drawBars(canvasQ, [{ values: q }], span(q), marks.key, colours);
  drawBars(canvasK, [{ values: k }], span(k), marks.key, colours);
  drawBars(stages.products.canvases[0], [{ values: products }], span(products), marks.key, colours);
  drawSteps(stages.running.canvases[0], running, span(running), marks.key, colours);
  const dot = { value: header.dot, pale: true };
  drawLengths(stages.scale.canvases[0], [dot, { value: header.score }], colours);
  drawMask(stages.mask.canvases[0], cell.allowed, header.cell[1], colours);
  const partOf = (whole) => [{ values: whole, pale: true }, { values: part, narrow: true }];
  drawBars(stages.value.canvases[0], partOf(v), span(v, part), marks.value, colours);
  drawBars(stages.output.canvases[0], partOf(output), span(output, part), marks.value, colours);
  if (header.norms) {
    const [ofPart, ofOutput] = header.norms;
    const lengths = [{ value: ofOutput, pale: true }, { value: ofPart }];
    drawLengths(stages.projected.canvases[0], lengths, colours);
  }
  cell.root.dataset.nonce = cell.nonce;
}
