// The lines as lines, for a figure: what is painted on the canvases as pixels, written down.

import { drawBase } from "./picture.js";
import { isolateTokens } from "./pointing.js";

// Each canvas draws its lines again, in CSS pixels, for whoever asks.
export function offerStrokes(view) {
  view.base.strokes = (context) => stroked(view, context, () => {
    view.layers.clear();
    drawBase(view);
  });
  view.overlay.strokes = (context) => stroked(view, context, () => isolateTokens(view));
}

function stroked(view, context, draw) {
  if (!view.paint) return; // not shown
  const { paint } = view;
  const strokes = (paint.strokes = []);
  draw();
  delete paint.strokes;
  for (const stroke of strokes) curve(context, stroke, paint);
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
