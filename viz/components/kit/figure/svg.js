// Marks, of which a figure is made, written as SVG.
// A mark is one of
//   { rect: box, radius, fill, stroke, line }        line: the width of a stroke
//   { path: "M0 0L1 1", box, fill, stroke, line, dash, join, cap }
//   { text, x, y, width, anchor, angle, font, fill } y: of the base line; width: as it was drawn
//   { pixels: { width, height, pixels }, box }       as canvas.js makes them
//   { marks: [...], clip: box, shift: [x, y] }       each of the two may be missing
// in CSS pixels; a box is [x, y, width, height]. A colour is what CSS says, or { ramp: [colours] }
// from left to right; a mark of any sort may have an opacity.

import { runOf } from "../page.js";

export const GENERIC = "sans-serif"; // where nobody has the font of the page
const MOST_CELLS = 2500; // of a pixel map; more are one image

// svgOf({ width, height, background, marks, title, text, link }): background null is none.
export function svgOf(figure) {
  const { width, height, background, title, text, link } = figure;
  const ramps = [];
  const body = figure.marks.map((mark) => written(mark, ramps)).join("");
  const whole = { rect: [0, 0, width, height], fill: background };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}" role="img">`,
    `<title>${escaped(title)}</title><desc>${escaped(text)}</desc><metadata>${escaped(link)}</metadata>`,
    ramps.length ? `<defs>${ramps.map(gradient).join("")}</defs>` : "",
    background ? written(whole, ramps) : "",
    `${body}</svg>\n`,
  ].join("\n");
}

export function escaped(text) {
  const safe = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  const allowed = text.replace(/(?![\t\n\r])\p{Cc}|[\p{Cs}\ufffe\uffff]/gu, ""); // in XML
  return allowed.replace(/[&<>"]/g, (found) => safe[found]);
}

// Two decimals are a fiftieth of what an eye sees.
function n(number) {
  return String(Math.round(100 * number) / 100);
}

function written(mark, ramps) {
  if (mark.marks) return group(mark, ramps);
  if (mark.pixels) return pixelMap(mark);
  if (mark.text !== undefined) return textMark(mark, ramps);
  const look = {
    fill: mark.fill ?? "none",
    stroke: mark.stroke,
    "stroke-width": mark.line,
    "stroke-dasharray": mark.dash?.map(n).join(" "),
    "stroke-linejoin": mark.join,
    "stroke-linecap": mark.cap,
    opacity: mark.opacity,
  };
  if (mark.path) return `<path${attributes({ d: mark.path, ...look }, ramps)}/>`;
  const [x, y, width, height] = mark.rect;
  return `<rect${attributes({ x, y, width, height, rx: mark.radius, ...look }, ramps)}/>`;
}

function attributes(values, ramps) {
  return Object.entries(values).map(([name, value]) => {
    if (value === undefined || value === null || value === "") return "";
    if (value.ramp) return ` ${name}="url(#ramp${ramps.push(value.ramp)})"`;
    if (typeof value === "number") return value === 1 && name === "opacity" ? "" : ` ${name}="${n(value)}"`;
    if (name !== "fill" && name !== "stroke") return ` ${name}="${escaped(value)}"`;
    const [colour, opacity] = paintOf(value);
    return ` ${name}="${colour}"${opacity < 1 ? ` ${name}-opacity="${n(opacity)}"` : ""}`;
  }).join("");
}

// Any colour that CSS computes, as SVG 1.1 reads it: its name, and its opacity.
export function paintOf(colour) {
  const numbers = colour.match(/(?:\d*\.)?\d+(?:e-?\d+)?/g)?.map(Number) ?? [];
  if (colour.startsWith("#") || !numbers.length) return [colour, 1];
  const channels = numbers.slice(0, 3).map((x) => Math.round(colour.startsWith("color(") ? 255 * x : x));
  const name = `#${channels.map((x) => x.toString(16).padStart(2, "0")).join("")}`;
  return [name, numbers[3] ?? 1];
}

function gradient(colours, i) {
  const stops = colours.map((colour, at) => {
    return `<stop offset="${n(at / (colours.length - 1))}" stop-color="${paintOf(colour)[0]}"/>`;
  });
  return `<linearGradient id="ramp${i + 1}">${stops.join("")}</linearGradient>`;
}

function group({ marks, clip, shift, opacity }, ramps) {
  const inner = marks.map((mark) => written(mark, ramps)).join("");
  const transform = shift && `translate(${shift.map(n).join(" ")})`;
  if (!clip) return `<g${attributes({ transform, opacity }, ramps)}>${inner}</g>`;
  const [x, y, width, height] = clip;
  const box = { x, y, width, height, viewBox: clip.map(n).join(" "), opacity };
  return `<svg${attributes(box, ramps)}>${inner}</svg>`;
}

function textMark({ text, x, y, width, anchor, angle, font, fill, opacity }, ramps) {
  const isLeftward = runOf(text) === "rtl";
  const from = isLeftward ? { start: "end", end: "start" }[anchor] ?? anchor : anchor;
  const look = {
    x,
    y,
    transform: angle ? `rotate(${n(angle)} ${n(x)} ${n(y)})` : undefined,
    "font-family": /\b(sans-)?serif|monospace\b/.test(font.family) ? font.family : `${font.family}, ${GENERIC}`,
    "font-size": font.size,
    "font-weight": font.weight === "400" ? undefined : font.weight,
    "font-style": font.style === "normal" ? undefined : font.style,
    // A text that runs to the left starts at its right.
    direction: isLeftward ? "rtl" : undefined,
    "text-anchor": from === "start" ? undefined : from,
    // So that nothing meets where the page's font is another one.
    textLength: width,
    lengthAdjust: width ? "spacingAndGlyphs" : undefined,
    fill,
    opacity,
  };
  return `<text${attributes(look, ramps)}>${escaped(text)}</text>`;
}

function pixelMap({ pixels: map, box: [x, y, width, height] }) {
  const cells = cellsOf(map, MOST_CELLS);
  if (!cells) {
    const look = { x, y, width, height, preserveAspectRatio: "none", style: "image-rendering:pixelated" };
    return `<image${attributes(look)} href="${addressOf(map)}"/>`;
  }
  const spare = [map.width / width, map.height / height].map((each) => Math.min(1, each / 4));
  const place = `translate(${n(x)} ${n(y)}) scale(${width / map.width} ${height / map.height})`;
  const rects = cells.map((cell) => rectOf(cell, map, spare)).join("");
  return `<g class="cells" shape-rendering="crispEdges" transform="${place}">${rects}</g>`;
}

// A pixel map as boxes of one colour each, from the top: { x, y, width, height, pixel }; null where
// there would be more than so many. What is transparent is left out.
export function cellsOf({ width, height, pixels }, most) {
  const cells = [];
  let above = new Map(); // the boxes that reach down to this row, by where they stand
  for (let y = 0; y < height; y++) {
    const row = pixels.subarray(y * width, (y + 1) * width);
    const here = new Map();
    for (let x = 0, end = 0; x < width; x = end) {
      const pixel = row[x];
      while (end < width && row[end] === pixel) end++;
      if (!(pixel >>> 24)) continue;
      const name = `${x} ${end} ${pixel}`;
      const cell = above.get(name) ?? { x, y, width: end - x, height: 0, pixel };
      if (!cell.height++) cells.push(cell);
      here.set(name, cell);
    }
    if (cells.length > most) return null;
    above = here;
  }
  return cells;
}

// A box reaches a quarter of a CSS pixel below the boxes that follow: else a reader of PDF shows seams
// between them. A whole pixel of the map may be a cell.
function rectOf({ x, y, width, height, pixel }, map, [across, below]) {
  const isFilled = (column, row) =>
    column < map.width && row < map.height && map.pixels[row * map.width + column] >>> 24 === 255;
  const right = n(width + across * isFilled(x + width, y));
  const down = n(height + below * isFilled(x, y + height));
  const channels = [0, 8, 16].map((shift) => ((pixel >>> shift) & 255).toString(16).padStart(2, "0"));
  const opacity = pixel >>> 24 === 255 ? "" : ` opacity="${n((pixel >>> 24) / 255)}"`;
  return `<rect x="${x}" y="${y}" width="${right}" height="${down}" fill="#${channels.join("")}"${opacity}/>`;
}

function addressOf(map) {
  return canvasOf(map).toDataURL("image/png");
}

export function canvasOf({ width, height, pixels }) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const data = new Uint8ClampedArray(pixels.buffer, pixels.byteOffset, 4 * width * height);
  canvas.getContext("2d").putImageData(new ImageData(data, width), 0, 0);
  return canvas;
}
