// The lines as lines, for a figure: what is painted on the canvases as pixels, written down.

import { drawBase } from "./picture.js";
import { isolateTokens } from "./pointing.js";

// Each canvas draws its lines again, in CSS pixels, for whoever asks.
export function offerStrokes(view) {
  offer(view, view.base, () => {
    view.layers.clear();
    drawBase(view);
  });
  offer(view, view.overlay, () => isolateTokens(view));
}

function offer(view, canvas, draw) {
  canvas.strokes = (context) => {
    if (!view.paint) return; // not shown
    const { paint } = view;
    const [strokes, boxes] = [(paint.strokes = []), []];
    canvas.getContext = () => noting(boxes, strokes);
    draw();
    delete canvas.getContext;
    delete paint.strokes;
    for (const stroke of strokes) curve(context, stroke, paint);
    fill(context, boxes, paint);
  };
}

// Stands for the canvas's context: pixels are dropped, boxes kept, and lines moved with the picture
// that they are in.
function noting(boxes, strokes) {
  let n = 0;
  const lay = (y) => {
    for (const stroke of strokes.slice(n)) Object.assign(stroke, { from: stroke.from + y, to: stroke.to + y });
    n = strokes.length;
  };
  return {
    clearRect() {},
    drawImage: (_image, _x, y) => lay(y),
    putImageData: (_data, _x, y) => lay(y),
    fillRect(...sides) {
      boxes.push({ colour: this.fillStyle, sides });
    },
  };
}

// The curve of lines.js, whose height is t² (3 - 2 t), is a cubic one with level ends.
function curve(context, { from, to, ink, shade, half, dotted }, { width, ratio }) {
  const across = width / ratio;
  const [start, end] = [from, to].map((y) => (y + 0.5) / ratio); // y counts from a pixel's middle
  context.strokeStyle = `rgb(${ink.map((channel) => Math.round(255 * channel)).join(" ")})`;
  context.globalAlpha = shade;
  context.lineWidth = (2 * half) / ratio;
  context.setLineDash(dotted ? [3, 4] : []);
  context.beginPath();
  context.moveTo(0, start);
  context.bezierCurveTo(across / 3, start, (2 * across) / 3, end, across, end);
  context.stroke();
}

function fill(context, boxes, { ratio }) {
  context.globalAlpha = 1;
  for (const { colour, sides } of boxes) {
    context.fillStyle = colour;
    context.fillRect(...sides.map((side) => side / ratio));
  }
}
