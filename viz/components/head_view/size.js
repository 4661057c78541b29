// How large the picture is, and how far it has scrolled.

import { devicePixels } from "../kit/canvas.js";
import { createPaint } from "./lines.js";
import { drawBase } from "./picture.js";
import { isolateTokens } from "./pointing.js";
import { measureRooms } from "./tokens.js";

// All sizes are read here, and only here: to read one lays the page out anew.
export function resize(view) {
  if (!view.map) return;
  const ratio = window.devicePixelRatio;
  const [width, height] = devicePixels(view.wires.clientWidth, view.wires.clientHeight);
  const name = [width, height, ratio].join();
  if (!width || !height) return; // not shown; the observer calls again
  measureRooms(view.tokens);
  view.top = view.box.scrollTop * ratio;
  if (name !== view.size) {
    view.size = name;
    view.paint = createPaint(width, height, ratio);
    for (const canvas of [view.base, view.overlay]) Object.assign(canvas, { width, height });
    view.layers.clear();
  }
  drawBase(view);
  isolateTokens(view);
}

// While it scrolls only each token's strongest line is drawn, to keep up.
export function scrolled(view) {
  clearTimeout(view.rest);
  view.rest = setTimeout(() => {
    view.isScrolling = false;
    drawBase(view);
  }, 120);
  view.isScrolling = true;
  view.top = view.box.scrollTop * window.devicePixelRatio;
  cancelAnimationFrame(view.frame);
  view.frame = requestAnimationFrame(() => {
    drawBase(view);
    isolateTokens(view);
  });
}
