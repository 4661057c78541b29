// Figures without a page: marks as SVG, a context that records, texts in a PNG.

import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32 } from "node:zlib";

const FIGURE = "../../../../viz/components/kit/figure";
const { isSeen } = await import(`${FIGURE}/elements.js`);
const { addressOf, broken } = await import(`${FIGURE}/figure.js`);
const { fileName } = await import(`${FIGURE}/files.js`);
const { described } = await import(`${FIGURE}/png.js`);
const { createRecorder, fontOf } = await import(`${FIGURE}/recorder.js`);
const { cellsOf, escaped, paintOf, svgOf } = await import(`${FIGURE}/svg.js`);

const FONT = { size: 14, family: "Inter", weight: "600", style: "italic" };

function written(...marks) {
  const rest = { width: 100, height: 50.256, background: null, title: "a", text: "b", link: "c" };
  return svgOf({ ...rest, marks });
}

test("a figure says its size, its caption, its sentence and its link", () => {
  const svg = svgOf({
    width: 100,
    height: 50.256,
    background: "rgb(255, 255, 255)",
    marks: [],
    title: "en-de · L2 H3",
    text: "While writing <s>",
    link: "http://here/?a=1&b=2",
  });
  assert.match(svg, /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg" width="100" height="50.26" viewBox="0 0 100 50.26" role="img">/);
  assert.match(svg, /<title>en-de · L2 H3<\/title><desc>While writing &lt;s&gt;<\/desc>/);
  assert.match(svg, /<metadata>http:\/\/here\/\?a=1&amp;b=2<\/metadata>/);
  assert.match(svg, /<rect x="0" y="0" width="100" height="50.26" fill="#ffffff"\/>/);
  assert.doesNotMatch(written(), /<rect/); // transparent
});

test("text is text, whatever it looks like", () => {
  const svg = written({ text: "<b>&\u0000\ud800", x: 1, y: 2.345, width: 20, anchor: "end", font: FONT, fill: "#102030" });
  assert.match(svg, /<text x="1" y="2.35" font-family="Inter, sans-serif" font-size="14" font-weight="600" font-style="italic" text-anchor="end" textLength="20" lengthAdjust="spacingAndGlyphs" fill="#102030">&lt;b&gt;&amp;<\/text>/);
  assert.equal(escaped("a\tb\nc"), "a\tb\nc");
});

test("a text runs as its first letter does, and stays where it is", () => {
  const mark = { text: "שלום!", x: 1, y: 2, font: FONT, fill: "#102030" };
  assert.match(written({ ...mark, anchor: "start" }), / direction="rtl" text-anchor="end"/);
  assert.match(written({ ...mark, anchor: "end" }), / direction="rtl" fill/);
  assert.doesNotMatch(written({ ...mark, text: "a שלום!", anchor: "start" }), /direction|anchor/);
});

test("colours are written as SVG 1.1 reads them", () => {
  assert.deepEqual(paintOf("rgb(16, 32, 48)"), ["#102030", 1]);
  assert.deepEqual(paintOf("rgba(16, 32, 48, 0.5)"), ["#102030", 0.5]);
  assert.deepEqual(paintOf("color(srgb 1 0 0.5 / 0.8)"), ["#ff0080", 0.8]);
  assert.deepEqual(paintOf("#abcdef"), ["#abcdef", 1]);
  const svg = written({ rect: [0, 0, 1, 1], fill: { ramp: ["rgb(0, 0, 0)", "rgb(255, 255, 255)"] } });
  assert.match(svg, /<linearGradient id="ramp1"><stop offset="0" stop-color="#000000"\/><stop offset="1" stop-color="#ffffff"\/>/);
  assert.match(svg, /fill="url\(#ramp1\)"/);
});

test("a colour is seen unless it is transparent", () => {
  const seen = ["rgb(140, 150, 0)", "rgba(0, 0, 0, 0.1)", "color(srgb 0 0 0)"];
  assert.deepEqual([...seen, "transparent", "rgba(0, 0, 0, 0)", "color(srgb 0 0 0 / 0)"].filter(isSeen), seen);
});

test("a group is moved, or cut to a box", () => {
  const line = { path: "M0 0L1 1", fill: undefined, stroke: "#000000", line: 1.5, dash: [3, 4] };
  const stroke = '<path d="M0 0L1 1" fill="none" stroke="#000000" stroke-width="1.5" stroke-dasharray="3 4"/>';
  assert.ok(written({ marks: [line], shift: [2, 3] }).includes(`<g transform="translate(2 3)">${stroke}</g>`));
  const clipped = `<svg x="1" y="2" width="3" height="4" viewBox="1 2 3 4">${stroke}</svg>`;
  assert.ok(written({ marks: [line], clip: [1, 2, 3, 4] }).includes(clipped));
});

// Two columns of cells, 2 and 1 pixels wide; the lower left one is transparent.
const [RED, BLUE] = [0xff0000ff, 0xffff0000];
const MAP = { width: 3, height: 4, pixels: Uint32Array.from([RED, RED, BLUE, RED, RED, BLUE, 0, 0, RED, 0, 0, RED]) };

test("a pixel map is its cells, however many pixels each has", () => {
  const boxes = cellsOf(MAP, 10).map(({ x, y, width, height, pixel }) => [x, y, width, height, pixel]);
  assert.deepEqual(boxes, [[0, 0, 2, 2, RED], [2, 0, 1, 2, BLUE], [2, 2, 1, 2, RED]]);
  assert.equal(cellsOf(MAP, 2), null);
});

test("cells reach below the ones that follow them, and never beyond the map", () => {
  const svg = written({ pixels: MAP, box: [10, 20, 6, 8] });
  assert.match(svg, /<g class="cells" shape-rendering="crispEdges" transform="translate\(10 20\) scale\(2 2\)">/);
  const rects = [...svg.matchAll(/<rect (x="\d" y="\d" width="[\d.]+" height="[\d.]+" fill="#\w+")\/>/g)].map(([, rect]) => rect);
  assert.deepEqual(rects, [
    'x="0" y="0" width="2.13" height="2" fill="#ff0000"',
    'x="2" y="0" width="1" height="2.13" fill="#0000ff"',
    'x="2" y="2" width="1" height="2" fill="#ff0000"',
  ]);
});

// What a browser's context keeps: the state, and nothing drawn.
function context() {
  const states = [];
  const real = {
    matrix: { a: 1, b: 0, c: 0, d: 1, e: 0, f: 0 },
    globalAlpha: 1,
    fillStyle: "#000000",
    strokeStyle: "#000000",
    lineWidth: 1,
    lineJoin: "miter",
    textBaseline: "alphabetic",
    textAlign: "start",
    font: "10px sans-serif",
    getTransform: () => real.matrix,
    scale: (x, y) => (real.matrix = { ...real.matrix, a: x, d: y }),
    translate: (x, y) => (real.matrix = { ...real.matrix, e: real.matrix.a * x, f: real.matrix.d * y }),
    rotate: () => (real.matrix = { ...real.matrix, a: 0, b: -2, c: 2, d: 0 }),
    getLineDash: () => [],
    measureText: (text) => ({ width: 6 * text.length, fontBoundingBoxAscent: real.textBaseline === "middle" ? 4 : 9 }),
    save: () => states.push({ ...real }),
    restore: () => Object.assign(real, states.pop()),
  };
  return real;
}

test("a recorder keeps lines, boxes and texts where they are drawn, in CSS pixels", () => {
  const { context: drawing, whole } = createRecorder(context(), { left: 100, top: 50, scale: 0.5 });
  drawing.scale(2, 2); // as a canvas of 2 device pixels per CSS pixel
  drawing.beginPath();
  drawing.moveTo(0, 0);
  drawing.bezierCurveTo(1, 0, 2, 4, 3, 4);
  drawing.lineWidth = 1.5;
  drawing.globalAlpha = 0.25;
  drawing.stroke();
  drawing.globalAlpha = 1;
  drawing.fillStyle = "#123456";
  drawing.fillRect(4, 5, 6, 7);
  drawing.textBaseline = "middle";
  drawing.textAlign = "center";
  drawing.font = "italic 600 13px Inter, sans-serif";
  drawing.fillText("key", 8, 9);
  const [line, box, text] = whole;
  assert.equal(line.path, "M100 50C101 50 102 54 103 54");
  assert.deepEqual([line.line, line.opacity, line.box], [1.5, 0.25, [100, 50, 3, 4]]);
  assert.deepEqual(box, { rect: [104, 55, 6, 7], fill: "#123456" });
  assert.deepEqual([text.text, text.x, text.y, text.width, text.anchor], ["key", 108, 64, 18, "middle"]);
  assert.deepEqual(text.font, { size: 13, family: "Inter, sans-serif", weight: "600", style: "italic" });
});

test("a recorder keeps what text is turned by, and cuts to a box until it is restored", () => {
  const { context: drawing, whole } = createRecorder(context(), { left: 0, top: 0, scale: 1 });
  drawing.save();
  drawing.beginPath();
  drawing.rect(1, 2, 3, 4);
  drawing.clip();
  drawing.fillRect(0, 0, 9, 9);
  drawing.restore();
  drawing.rotate(-Math.PI / 2);
  drawing.fillText("row", 0, 0);
  assert.deepEqual(whole[0], { marks: [{ rect: [0, 0, 9, 9], fill: "#000000" }], clip: [1, 2, 3, 4] });
  assert.equal(whole[1].angle, -90);
});

test("a recorder keeps images as they are, wherever the context is", () => {
  const recorder = createRecorder(context(), { left: 10, top: 10, scale: 0.25 });
  const data = new Uint8ClampedArray(16).fill(255);
  recorder.context.putImageData({ data, width: 2, height: 2 }, 4, 8);
  const [{ pixels, box }] = recorder.whole;
  assert.deepEqual(box, [11, 12, 0.5, 0.5]);
  assert.deepEqual([...pixels.pixels], Array(4).fill(0xffffffff));
});

test("a font is read as browsers write it", () => {
  assert.deepEqual(fontOf("10.5px Inter"), { size: 10.5, family: "Inter", weight: "400", style: "normal" });
  assert.equal(fontOf('bold 12px/1.4 "Source Sans", serif', 2).weight, "700");
});

test("a PNG says its texts and its resolution, in chunks that are whole", () => {
  const plain = new Uint8Array(33 + 12); // signature, header, and an end
  const bytes = described(plain, { Title: "Straße", Source: "" }, 2);
  const chunks = [];
  const view = new DataView(bytes.buffer);
  for (let at = 33; view.getUint32(at) > 0; at += 12 + view.getUint32(at)) {
    const length = view.getUint32(at);
    const part = bytes.subarray(at + 4, at + 8 + length);
    assert.equal(view.getUint32(at + 8 + length), crc32(part));
    chunks.push(new TextDecoder().decode(part));
  }
  assert.equal(chunks.length, 2);
  assert.equal(chunks[1], "iTXtTitle\0\0\0\0\0Straße");
  assert.equal(view.getUint32(33 + 8), 7559); // pixels per metre: 192 per inch
});

test("a link is the page's; a notebook's is without what may be secret; a file has none", () => {
  const at = (href, base = href) => addressOf(new URL(href), base);
  assert.equal(at("http://localhost:8501/?head=3"), "http://localhost:8501/?head=3");
  assert.equal(at("about:srcdoc", "http://localhost:8888/lab/tree/a.ipynb?token=1#x"), "http://localhost:8888/lab/tree/a.ipynb");
  assert.equal(at("file:///home/somebody/map.html"), "");
});

test("a long link is broken where the line ends", () => {
  assert.deepEqual(broken("abcdefg", 3, (text) => text.length), ["abc", "def", "g"]);
  assert.deepEqual(broken("", 3, (text) => text.length), []);
});

test("a file is named by its caption", () => {
  assert.equal(fileName("en-de · Cross-attention, L2 H3"), "en-de-cross-attention-l2-h3");
  assert.equal(fileName("…"), "figure");
});
