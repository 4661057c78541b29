// The canvases: all shown heads below, and the lines that stand out above them.

// All sizes are read here, and only here: to read one lays the page out anew.
function resize(view) {
  if (!view.map) return;
  const ratio = window.devicePixelRatio;
  const [width, height] = [view.wires.clientWidth, view.wires.clientHeight].map((n) =>
    Math.round(n * ratio),
  );
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
function scrolled(view) {
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

// Each head's lines are drawn once and kept: to show or hide one only lays the pictures together.
function drawBase(view) {
  if (!view.paint) return; // not shown yet
  const perRow = view.isScrolling ? 1 : Number(view.controls.lines.value);
  const source = `${view.drawn} ${perRow} ${view.top}`;
  if (source !== view.source) {
    view.source = source;
    view.layers.clear();
  }
  const context = view.base.getContext("2d");
  context.clearRect(0, 0, view.base.width, view.base.height);
  for (const head of shown(view)) context.drawImage(layerOf(view, head, perRow), 0, 0);
  view.root.dataset.nonce = view.nonce;
}

function layerOf(view, head, perRow) {
  const colour = colourOf(view, head);
  const kept = view.layers.get(head);
  if (kept?.colour === colour) return kept.canvas;
  const canvas = element("canvas");
  Object.assign(canvas, { width: view.base.width, height: view.base.height });
  paintHead(view, head, linesShown(view, head, perRow));
  canvas.getContext("2d").putImageData(developed(view.paint), 0, 0);
  view.layers.set(head, { canvas, colour });
  return canvas;
}

function paintHead(view, head, lines) {
  const { paint, map, pitch, top } = view;
  const place = { pitch: pitch * paint.ratio, top, shift: shiftOf(view, head) * paint.ratio };
  paintLines(paint, lines, colourOf(view, head), map.header.bound, place);
}

function linesShown(view, head, perRow) {
  const { map } = view;
  map.lines ??= new Map();
  const name = `${head} ${perRow}`;
  if (!map.lines.has(name)) map.lines.set(name, linesOf(map, head, perRow));
  return map.lines.get(name);
}

// Heads that are shown together run side by side, each in a lane of its own.
function shiftOf(view, head) {
  if (shown(view).length === 1) return 0;
  const { nHeads } = view.map;
  return ((head + 0.5) / nHeads - 0.5) * Math.min(view.pitch - 7, 2 * nHeads);
}
