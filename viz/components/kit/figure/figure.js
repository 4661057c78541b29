// A component as a figure: all that it shows, and below it what it is of and where it is found.
//
// A canvas becomes what is drawn on it. Where view.redraw() draws all canvases of a component again,
// lines and texts stay lines and texts; so do those of a canvas with a function strokes(context),
// which draws it in CSS pixels. Other canvases become their pixels.

import { atRatio } from "../canvas.js";
import { marksOfElement } from "./elements.js";
import { boxAround, createRecorder } from "./recorder.js";

const MARGIN = 12; // px around the whole
const NARROWEST = 360; // px of a figure, for what stands below it
const FONTS = { caption: 13, link: 11 }; // px

// caption: what the figure is of. Returns { width, height, background, marks, title, text, link }.
// ratio: device pixels per CSS pixel of what has pixels.
export function figureOf(root, view, caption, ratio, isTransparent) {
  view.complete?.(); // what is made once there is time for it
  const { background, colour, family } = lookOf(root);
  const said = root.querySelector(".sentence:not([hidden]) .said")?.textContent ?? "";
  const marks = whileFigure(root, () => drawnMarks(root, view, ratio));
  const [, first, right, bottom] = extent(marks);
  const top = Math.floor(first); // whole pixels stay whole
  const link = addressOf(window.location, document.baseURI);
  const below = belowMarks([caption, link], { top: bottom + 4, width: Math.max(NARROWEST, right), colour, family });
  const [, , width, height] = extent([...marks, ...below]);
  return {
    width: Math.ceil(width + 2 * MARGIN),
    height: Math.ceil(height - top + 2 * MARGIN),
    background: isTransparent ? null : background,
    marks: [{ marks: [...marks, ...below], shift: [MARGIN, MARGIN - top] }],
    title: caption,
    text: said,
    link,
  };
}

// While it is drawn as a figure it has no controls; nobody sees this, and it keeps its height.
function whileFigure(root, draw) {
  const { minHeight } = root.style;
  root.style.minHeight = `${root.offsetHeight}px`;
  root.classList.add("is-figure");
  try {
    return draw();
  } finally {
    root.classList.remove("is-figure");
    root.style.minHeight = minHeight;
  }
}

function drawnMarks(root, view, ratio) {
  const origin = root.getBoundingClientRect();
  const recorders = view.redraw ? recorded(root, view, ratio, origin) : new Map();
  const marksOf = (canvas, box) => {
    if (canvas.strokes) return strokeMarks(canvas, box);
    const recorder = recorders.get(canvas);
    return recorder?.isUsed ? recorder.whole : pixelMarks(canvas, box);
  };
  try {
    return marksOfElement(root, { origin, marksOf, pen: scratch() });
  } finally {
    if (view.redraw) view.redraw();
  }
}

function scratch() {
  return document.createElement("canvas").getContext("2d");
}

// What the view draws on each of its canvases.
function recorded(root, view, ratio, origin) {
  const canvases = [...root.querySelectorAll("canvas")].filter((canvas) => !canvas.strokes);
  const recorders = new Map(canvases.map((canvas) => {
    const { x, y } = canvas.getBoundingClientRect();
    // Whole pixels stay whole.
    const [left, top] = [x - origin.x, y - origin.y].map((side) => Math.round(side * ratio) / ratio);
    return [canvas, createRecorder(scratch(), { left, top, scale: 1 / ratio })];
  }));
  for (const [canvas, { context }] of recorders) canvas.getContext = () => context;
  try {
    atRatio(ratio, () => view.redraw());
  } finally {
    for (const canvas of canvases) delete canvas.getContext;
  }
  return recorders;
}

function strokeMarks(canvas, [left, top, width, height]) {
  const recorder = createRecorder(scratch(), { left, top, scale: 1 });
  canvas.strokes(recorder.context);
  return recorder.whole.length ? [{ marks: recorder.whole, clip: [left, top, width, height] }] : [];
}

function pixelMarks(canvas, box) {
  const { width, height } = canvas;
  if (!width || !height) return [];
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  return [{ pixels: { width, height, pixels: new Uint32Array(data.buffer) }, box }];
}

// The corners of all marks: [left, top, right, bottom].
function extent(marks, shift = [0, 0]) {
  const corners = marks.flatMap((mark) => {
    const [x, y, width, height] = mark.marks ? inner(mark) : boxOf(mark);
    return [[x, y], [x + width, y + height]];
  });
  const [x, y, width, height] = boxAround(corners);
  return [x + shift[0], y + shift[1], x + width + shift[0], y + height + shift[1]];
}

function inner({ marks, clip, shift }) {
  if (clip) return clip;
  const [left, top, right, bottom] = extent(marks, shift);
  return [left, top, right - left, bottom - top];
}

function boxOf({ rect, box, text, x, y, width, angle, anchor, font }) {
  if (text === undefined) return rect ?? box;
  if (angle) return [x, y, 0, 0]; // within the canvas that it stands on
  const left = x - width * ({ middle: 0.5, end: 1 }[anchor] ?? 0);
  return [left, y - font.size, width, 1.3 * font.size];
}

function lookOf(root) {
  const style = getComputedStyle(root);
  const [background, colour] = ["--background", "--dim"].map((name) => style.getPropertyValue(name).trim());
  return { background, colour, family: style.fontFamily };
}

// The address of the page; of a picture in a frame of a notebook, that of the notebook. A file of
// somebody's own is nobody else's business.
export function addressOf({ href, protocol }, base) {
  if (/^https?:$/.test(protocol)) return href;
  return protocol === "about:" && /^https?:/.test(base) ? base.replace(/[?#].*$/, "") : "";
}

// Caption and link, broken where they are too long.
function belowMarks([caption, link], { top, width, colour, family }) {
  const pen = scratch();
  const marks = [];
  let y = top;
  for (const [text, size] of [[caption, FONTS.caption], [link, FONTS.link]]) {
    const font = { size, family, weight: "400", style: "normal" };
    pen.font = `${size}px ${family}`;
    for (const line of broken(text, width, (part) => pen.measureText(part).width)) {
      y += 1.4 * size;
      const measured = pen.measureText(line).width;
      marks.push({ text: line, x: 0, y, width: measured, anchor: "start", font, fill: colour });
    }
    y += 4;
  }
  return marks;
}

// Text in lines of at most this width, wherever they end.
export function broken(text, width, measure) {
  const lines = [];
  for (const character of text) {
    const longer = (lines.at(-1) ?? "") + character;
    if (lines.length && measure(longer) <= width) lines[lines.length - 1] = longer;
    else lines.push(character);
  }
  return lines;
}
