// What a component shows, element by element, as marks of svg.js: texts, boxes, canvases, and SVG
// that is in the page. What people only use (data-control) is left out by the style of the figure.

import { fontOf } from "./recorder.js";

const SKIPPED = "select, input, style, script, title";

// origin: the point of the page that is (0, 0) of the figure. marksOf(canvas): those of a canvas. pen:
// a 2D context to measure texts with.
export function marksOfElement(root, { origin, marksOf, pen }) {
  root.normalize(); // texts that follow upon each other are one
  return elementMarks(root, { origin, marksOf, pen, clip: null });
}

function elementMarks(node, page) {
  if (node.matches(SKIPPED)) return [];
  const style = getComputedStyle(node);
  if (style.display === "none" || style.opacity === "0" || style.clipPath !== "none") return [];
  const marks = style.visibility === "visible" ? ownMarks(node, style, page) : [];
  const inner = { ...page, clip: clipOf(node, style, page) };
  if (node.tagName === "svg") marks.push(...shapes(node, inner));
  else for (const child of node.childNodes) marks.push(...childMarks(child, style, inner));
  for (const name of ["::before", "::after"]) marks.push(...pseudoMarks(node, name, page));
  return style.opacity === "1" ? marks : seenThrough(marks, Number(style.opacity));
}

// One mark needs no group, which takes a canvas of its own to paint.
function seenThrough(marks, opacity) {
  if (marks.length !== 1) return marks.length ? [{ marks, opacity }] : [];
  return [{ ...marks[0], opacity: opacity * (marks[0].opacity ?? 1) }];
}

function childMarks(child, style, page) {
  if (child.nodeType === Node.ELEMENT_NODE) return elementMarks(child, page);
  const isText = child.nodeType === Node.TEXT_NODE && style.visibility === "visible";
  return isText ? textMarks(child, style, page) : [];
}

function ownMarks(node, style, page) {
  const box = cut(boxOf(node, page), page.clip);
  if (!box) return [];
  const marks = boxMarks(box, style);
  if (node.tagName === "CANVAS") marks.push(...page.marksOf(node, boxOf(node, page)));
  return marks;
}

function boxOf(node, { origin }) {
  const { x, y, width, height } = node.getBoundingClientRect();
  return [x - origin.x, y - origin.y, width, height];
}

// What is seen of a box; null where nothing is.
function cut([x, y, width, height], clip) {
  if (!clip) return [x, y, width, height];
  const [left, top] = [Math.max(x, clip.box[0]), Math.max(y, clip.box[1])];
  const right = Math.min(x + width, clip.box[0] + clip.box[2]);
  const bottom = Math.min(y + height, clip.box[1] + clip.box[3]);
  return right < left || bottom < top ? null : [left, top, right - left, bottom - top];
}

function clipOf(node, style, page) {
  if (style.overflow === "visible") return page.clip;
  const box = cut(boxOf(node, page), page.clip) ?? [0, 0, 0, 0];
  return { box, isShort: style.textOverflow === "ellipsis" };
}

// A background, borders, and shadows that are rings.
function boxMarks(box, style) {
  const radius = parseFloat(style.borderTopLeftRadius) || undefined;
  const marks = rings(box, style.boxShadow, radius);
  if (style.backgroundImage.startsWith("linear-gradient")) marks.push(gradient(box, style, radius));
  else if (isSeen(style.backgroundColor)) marks.push({ rect: box, radius, fill: style.backgroundColor });
  return [...marks, ...borders(box, style, radius)];
}

export function isSeen(colour) {
  return !/^transparent$|^rgba.*, 0\)$|\/ 0\)$/.test(colour);
}

// Rings around a box or within it: shadows of some spread, and neither blurred nor moved.
function rings([x, y, width, height], shadow, radius = 0) {
  const found = [...shadow.matchAll(/((?:rgba?|color)\([^)]*\)) 0px 0px 0px ([\d.]+)px( inset)?/g)];
  return found.reverse().map(([, stroke, spread, inset]) => {
    const by = (inset ? -1 : 1) * (Number(spread) / 2); // the middle of the stroke
    const rect = [x - by, y - by, width + 2 * by, height + 2 * by];
    return { rect, radius: radius ? radius + by : undefined, stroke, line: Number(spread) };
  });
}

function gradient([x, y, width, height], { backgroundImage, backgroundSize }, radius) {
  const ramp = backgroundImage.match(/rgba?\([^)]*\)/g);
  const high = /^\S+ ([\d.]+)px/.exec(backgroundSize); // in the middle of the box
  const size = high ? Math.min(height, Number(high[1])) : height;
  const fill = new Set(ramp).size === 1 ? ramp[0] : { ramp };
  return { rect: [x, y + (height - size) / 2, width, size], radius, fill };
}

function borders([x, y, width, height], style, radius) {
  const sides = ["Top", "Right", "Bottom", "Left"].map((side) => ({
    size: style[`border${side}Style`] === "none" ? 0 : parseFloat(style[`border${side}Width`]),
    fill: style[`border${side}Color`],
  }));
  const [top, right, bottom, left] = sides.map(({ size, fill }) => (isSeen(fill) ? size : 0));
  const isFrame = top && [right, bottom, left].every((size) => size === top);
  if (isFrame) {
    const rect = [x + top / 2, y + top / 2, width - top, height - top];
    return [{ rect, radius, stroke: sides[0].fill, line: top }];
  }
  const rects = [
    [x, y, width, top],
    [x + width - right, y, right, height],
    [x, y + height - bottom, width, bottom],
    [x, y, left, height],
  ];
  return rects.map((rect, i) => ({ rect, fill: sides[i].fill })).filter(({ rect }) => rect[2] && rect[3]);
}

// Boxes without text that a style adds to an element, where their place is known.
function pseudoMarks(node, name, page) {
  const style = getComputedStyle(node, name);
  if (style.content === "none" || style.position !== "absolute" || style.display === "none") return [];
  if (style.visibility !== "visible") return [];
  const [x, y] = boxOf(node, page);
  const [left, top, width, height] = ["left", "top", "width", "height"].map((side) => parseFloat(style[side]));
  return boxMarks([x + left, y + top, width, height], style);
}

function textMarks(node, style, { origin, pen, clip }) {
  if (!node.data.trim()) return [];
  const font = { ...fontOf(`${style.fontSize} ${style.fontFamily}`), weight: style.fontWeight, style: style.fontStyle };
  pen.font = `${font.style} ${font.weight} ${font.size}px ${font.family}`;
  const { fontBoundingBoxAscent, fontBoundingBoxDescent } = pen.measureText("x");
  const [ascent, descent] = [fontBoundingBoxAscent, fontBoundingBoxDescent].map(Math.round); // as the page does
  if (style.writingMode?.startsWith("vertical")) return [uprightMark(node, style, font, ascent - descent, origin)];
  const shown = linesOf(node, style.whiteSpace.startsWith("pre"), origin);
  return shown.map((line) => fitted(line, clip, pen)).filter(Boolean).map(({ text, left, right, top }) => ({
    text,
    x: left,
    y: top + ascent,
    width: right - left,
    anchor: "start",
    font,
    fill: style.color,
  }));
}

// A line of text that runs down, or up where it is turned round.
function uprightMark(node, style, font, rise, origin) {
  const range = document.createRange();
  range.selectNodeContents(node);
  const { left, top, width, height } = range.getBoundingClientRect();
  const side = style.rotate === "180deg" ? 1 : -1;
  return {
    text: node.data.trim(),
    x: left - origin.x + width / 2 + (side * rise) / 2,
    y: top - origin.y + height / 2,
    width: height,
    anchor: "middle",
    angle: -90 * side,
    font,
    fill: style.color,
  };
}

// The lines that a text was broken into: their characters, as people count them, with their places.
function linesOf(node, isPre, origin) {
  const range = document.createRange();
  const lines = [];
  for (const { segment, index } of new Intl.Segmenter().segment(node.data)) {
    range.setStart(node, index);
    range.setEnd(node, index + segment.length);
    const box = [...range.getClientRects()].at(-1);
    if (!box?.width) continue; // a space that the page collapsed
    const place = { left: box.left - origin.x, right: box.right - origin.x, top: box.top - origin.y };
    const text = segment.replace(/\s+/, isPre ? "\u00a0" : " "); // SVG collapses others
    const line = lines.at(-1);
    const isSame = line && Math.abs(line.top - place.top) < box.height / 2;
    if (isSame) line.characters.push({ text, ...place });
    else lines.push({ top: place.top, height: box.height, characters: [{ text, ...place }] });
  }
  return lines;
}

// What is seen of a line; an ellipsis stands for the rest where the page has one.
function fitted({ top, height, characters }, clip, pen) {
  let seen = characters;
  let end = "";
  if (clip) {
    const [x, y, width, high] = clip.box;
    const spare = height / 4; // less of a line may be cut, as it is below the last of a list
    if (top + spare < y || top + height - spare > y + high) return null;
    seen = characters.filter(({ left, right }) => left > x - 1 && right < x + width + 1);
    if (seen.length < characters.length && clip.isShort) {
      end = "…";
      const room = x + width - pen.measureText(end).width;
      seen = seen.filter(({ right }) => right <= room);
    }
  }
  seen = seen.slice(Math.max(0, seen.findIndex(isInk)), seen.findLastIndex(isInk) + 1);
  if (!seen.length) return null;
  const [left, right] = [Math.min(...seen.map((each) => each.left)), Math.max(...seen.map((each) => each.right))];
  const text = seen.map((each) => each.text).join("") + end;
  return { text, left, right: right + (end ? pen.measureText(end).width : 0), top };
}

function isInk({ text }) {
  return text.trim() !== "";
}

// Lines, circles, paths and texts of SVG in the page, in their computed colours.
function shapes(svg, page) {
  const marks = [];
  for (const node of svg.querySelectorAll("line, circle, path, text")) {
    const style = getComputedStyle(node);
    if (style.display === "none") continue;
    if (node.tagName === "text") marks.push(...textMarks(node.firstChild, textStyle(style), page));
    else marks.push(shape(node, style, page));
  }
  return marks;
}

function textStyle({ fontSize, fontFamily, fontWeight, fontStyle, whiteSpace, fill }) {
  return { fontSize, fontFamily, fontWeight, fontStyle, whiteSpace, color: fill };
}

function shape(node, style, { origin }) {
  const { x, y, width, height } = node.getBBox();
  const dash = style.strokeDasharray === "none" ? null : style.strokeDasharray.match(/[\d.]+/g).map(Number);
  const path = {
    path: pathOf(node),
    box: [x, y, width, height],
    fill: style.fill === "none" || !isSeen(style.fill) ? undefined : style.fill,
    ...(style.stroke !== "none" && { stroke: style.stroke, line: parseFloat(style.strokeWidth) }),
    ...(dash && { dash }),
    join: style.strokeLinejoin,
    cap: style.strokeLinecap,
    opacity: Number(style.opacity),
  };
  const { e, f } = node.getScreenCTM(); // our SVG is as large as it says, and only moved
  return { marks: [path], shift: [e - origin.x, f - origin.y] };
}

function pathOf(node) {
  const at = (name) => node[name].baseVal.value;
  if (node.tagName === "path") return node.getAttribute("d");
  if (node.tagName === "line") return `M${at("x1")} ${at("y1")}L${at("x2")} ${at("y2")}`;
  const [x, y, r] = [at("cx"), at("cy"), at("r")];
  return `M${x - r} ${y}A${r} ${r} 0 1 1 ${x + r} ${y}A${r} ${r} 0 1 1 ${x - r} ${y}`;
}
