// Marks of svg.js on a canvas, pixel for pixel in the fonts of the page.

import { runOf } from "../page.js";
import { canvasOf } from "./svg.js";

// A canvas of scale device pixels per CSS pixel.
export function paintFigure({ width, height, background, marks }, scale) {
  const [across, down] = [width, height].map((size) => Math.round(size * scale));
  const canvas = Object.assign(document.createElement("canvas"), { width: across, height: down });
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.imageSmoothingEnabled = false;
  if (background) paint(context, { rect: [0, 0, width, height], fill: background });
  for (const mark of marks) paint(context, mark);
  return canvas;
}

function paint(context, mark) {
  context.save();
  if (mark.opacity !== undefined && !mark.marks) context.globalAlpha = mark.opacity;
  if (mark.marks) paintGroup(context, mark);
  else if (mark.pixels) context.drawImage(canvasOf(mark.pixels), ...mark.box);
  else if (mark.text !== undefined) paintText(context, mark);
  else paintShape(context, mark);
  context.restore();
}

// The opacity of a group is that of the whole: what overlaps within it does not add up.
function paintGroup(context, { marks, clip, shift, opacity = 1 }) {
  if (opacity < 1) {
    const canvas = Object.assign(document.createElement("canvas"), sizeOf(context));
    const layer = canvas.getContext("2d");
    layer.setTransform(context.getTransform());
    layer.imageSmoothingEnabled = false;
    paintGroup(layer, { marks, clip, shift });
    context.resetTransform();
    context.globalAlpha = opacity;
    context.drawImage(canvas, 0, 0);
    return;
  }
  if (clip) {
    context.beginPath();
    context.rect(...clip);
    context.clip();
  }
  if (shift) context.translate(...shift);
  for (const mark of marks) paint(context, mark);
}

function sizeOf({ canvas: { width, height } }) {
  return { width, height };
}

function paintShape(context, mark) {
  const shape = mark.path ? new Path2D(mark.path) : new Path2D();
  if (mark.rect) shape.roundRect(...mark.rect, Math.max(0, mark.radius ?? 0));
  if (mark.fill) {
    context.fillStyle = mark.fill.ramp ? rampOf(context, mark) : mark.fill;
    context.fill(shape);
  }
  if (!mark.stroke) return;
  const { stroke: strokeStyle, line: lineWidth, join: lineJoin = "miter", cap: lineCap = "butt" } = mark;
  Object.assign(context, { strokeStyle, lineWidth, lineJoin, lineCap });
  context.setLineDash(mark.dash ?? []);
  context.stroke(shape);
}

function rampOf(context, { rect: [x, , width], fill: { ramp } }) {
  const gradient = context.createLinearGradient(x, 0, x + width, 0);
  ramp.forEach((colour, i) => gradient.addColorStop(i / (ramp.length - 1), colour));
  return gradient;
}

function paintText(context, { text, x, y, width, anchor, angle = 0, font, fill }) {
  context.font = `${font.style} ${font.weight} ${font.size}px ${font.family}`;
  context.fillStyle = fill;
  context.translate(x, y);
  context.rotate((angle * Math.PI) / 180);
  const measured = context.measureText(text).width;
  // The page may set it a little wider or closer, as with figures of one width.
  if (width && measured) context.scale(width / measured, 1);
  context.direction = runOf(text);
  context.textAlign = { start: "left", middle: "center", end: "right" }[anchor];
  context.fillText(text, 0, 0);
}
