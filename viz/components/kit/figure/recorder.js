// A 2D context that keeps what is drawn as marks of svg.js, and draws nothing. It has the calls that
// our pictures use; whatever else is set or asked (a font, a transform, the width of a text) is left
// to a real context.

// real: a context of a canvas of its own. place: { left, top, scale }: where the marks stand, and how
// large one unit of the canvas is there.
export function createRecorder(real, place) {
  const recorder = { real, place, isUsed: false, levels: [], path: null };
  recorder.whole = recorder.marks = [];
  const own = { ...paths(recorder), ...drawing(recorder), ...states(recorder) };
  recorder.context = new Proxy(real, {
    get(_, name) {
      if (name in own) return own[name];
      const value = real[name];
      return typeof value === "function" ? value.bind(real) : value;
    },
    set(_, name, value) {
      real[name] = value;
      return true;
    },
  });
  return recorder;
}

function states(recorder) {
  const { real } = recorder;
  return {
    reset() {
      real.reset();
      Object.assign(recorder, { isUsed: true, levels: [], marks: recorder.whole });
      recorder.whole.length = 0;
    },
    save() {
      real.save();
      recorder.levels.push(recorder.marks);
    },
    restore() {
      real.restore();
      recorder.marks = recorder.levels.pop() ?? recorder.marks;
    },
    // To the box of the path: all that our pictures clip to.
    clip() {
      const marks = [];
      add(recorder, { marks, clip: recorder.path.box() });
      recorder.marks = marks;
    },
  };
}

function add(recorder, mark) {
  const opacity = recorder.real.globalAlpha;
  recorder.marks.push(opacity === 1 ? mark : { ...mark, opacity });
  recorder.isUsed = true;
}

function matrix({ real, place: { left, top, scale } }) {
  const { a, b, c, d, e, f } = real.getTransform();
  return {
    at: (x, y) => [left + scale * (a * x + c * y + e), top + scale * (b * x + d * y + f)],
    size: scale * Math.hypot(a, b),
    angle: (Math.atan2(b, a) * 180) / Math.PI,
  };
}

function paths(recorder) {
  const step = (letter, ...numbers) => {
    const points = numbers.map(([x, y]) => matrix(recorder).at(x, y));
    recorder.path.points.push(...points);
    recorder.path.steps.push(letter + points.map(pair).join(" "));
  };
  const own = {
    beginPath: () => (recorder.path = createPath()),
    closePath: () => recorder.path.steps.push("Z"),
    moveTo: (x, y) => step("M", [x, y]),
    // The first point of a path is where it starts, however it is said.
    lineTo: (x, y) => step(recorder.path.steps.length ? "L" : "M", [x, y]),
    bezierCurveTo: (...all) => step("C", [all[0], all[1]], [all[2], all[3]], [all[4], all[5]]),
    rect(x, y, width, height) {
      step("M", [x, y]);
      for (const corner of [[x + width, y], [x + width, y + height], [x, y + height]]) step("L", corner);
      own.closePath();
    },
    // A whole circle, which is all that our pictures draw.
    arc(x, y, radius) {
      const size = radius * matrix(recorder).size;
      step("M", [x - radius, y]);
      for (const end of [x + radius, x - radius]) {
        const [right, down] = matrix(recorder).at(end, y);
        recorder.path.steps.push(`A${pair([size, size])} 0 1 1 ${pair([right, down])}`);
      }
      recorder.path.points.push(matrix(recorder).at(x - radius, y - radius), matrix(recorder).at(x + radius, y + radius));
    },
  };
  return own;
}

function createPath() {
  const path = { steps: [], points: [] };
  path.box = () => boxAround(path.points);
  return path;
}

export function boxAround(points) {
  const [xs, ys] = [0, 1].map((axis) => points.map((point) => point[axis]));
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return [x, y, Math.max(...xs) - x, Math.max(...ys) - y];
}

function pair(numbers) {
  return numbers.map((number) => Math.round(100 * number) / 100).join(" ");
}

function drawing(recorder) {
  const { real } = recorder;
  const box = (x, y, width, height) => {
    const { at } = matrix(recorder);
    return boxAround([at(x, y), at(x + width, y + height)]);
  };
  const line = () => {
    const { size } = matrix(recorder);
    const dash = real.getLineDash().map((part) => part * size);
    return { stroke: real.strokeStyle, line: real.lineWidth * size, ...(dash.length && { dash }) };
  };
  const path = () => ({ path: recorder.path.steps.join(""), box: recorder.path.box() });
  return {
    fill: () => add(recorder, { ...path(), fill: real.fillStyle }),
    stroke: () => add(recorder, { ...path(), ...line(), join: real.lineJoin }),
    fillRect: (...sides) => add(recorder, { rect: box(...sides), fill: real.fillStyle }),
    strokeRect: (...sides) => add(recorder, { rect: box(...sides), ...line() }),
    clearRect() {}, // what our pictures clear is all, before they draw
    fillText: (text, x, y) => text && add(recorder, textMark(recorder, text, x, y)),
    putImageData({ data, width, height }, x, y) {
      const { left, top, scale } = recorder.place;
      const pixels = new Uint32Array(data.buffer, data.byteOffset, width * height);
      const place = [left + scale * x, top + scale * y, scale * width, scale * height];
      add(recorder, { pixels: { width, height, pixels }, box: place });
    },
  };
}

const ANCHORS = { center: "middle", right: "end", end: "end" };

function textMark(recorder, text, x, y) {
  const { real } = recorder;
  const { at, size, angle } = matrix(recorder);
  const [left, baseline] = at(x, y + belowBaseline(real, text));
  return {
    text,
    x: left,
    y: baseline,
    width: real.measureText(text).width * size,
    anchor: ANCHORS[real.textAlign] ?? "start",
    angle,
    font: fontOf(real.font, size),
    fill: real.fillStyle,
  };
}

// How far the base line is below the line that a text was placed by.
function belowBaseline(real, text) {
  const { textBaseline } = real;
  if (textBaseline === "alphabetic") return 0;
  const above = real.measureText(text).fontBoundingBoxAscent;
  real.textBaseline = "alphabetic";
  const all = real.measureText(text).fontBoundingBoxAscent;
  real.textBaseline = textBaseline;
  return all - above;
}

// "italic 600 13px Inter, sans-serif" taken apart.
export function fontOf(written, scale = 1) {
  const [, before, size, family] = /^(.*?)([\d.]+)px(?:\/\S+)? (.*)$/.exec(written);
  const weight = /\b\d+00\b/.exec(before)?.[0] ?? (before.includes("bold") ? "700" : "400");
  return { size: scale * Number(size), family, weight, style: before.includes("italic") ? "italic" : "normal" };
}
