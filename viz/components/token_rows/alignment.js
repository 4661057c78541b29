// The lines between the two rows: from each written word to the source word that it looks at most.
// They lie below the words. A row that wraps has words between its ends: there only the lines of
// the word that is pointed at, or pinned, are drawn. The button stands in the first row, which keeps its
// place when the lines part the two.

import { element } from "../kit/page.js";

const SVG = "http://www.w3.org/2000/svg";
const MEANS = "the word looked at most: last cross-attention, mean of heads";

// choose(isOn) is called when somebody presses the button.
export function createAlignment(root, choose) {
  const [node, button] = [element("span", "key alignment"), element("button", "", "lines")];
  node.dir = "ltr"; // the word is English, whatever the tokens are
  button.prepend(element("span", "strokes"));
  node.append(button);
  const svg = document.createElementNS(SVG, "svg");
  svg.classList.add("aligned");
  svg.setAttribute("aria-hidden", "true"); // the numbers are in the pictures, and in a word's card
  const lines = { root, node, button, svg, links: null, isOn: false, pinned: [], token: {} };
  button.onclick = () => choose(!lines.isOn);
  const again = () => place(lines);
  const observer = new ResizeObserver(again);
  observer.observe(root);
  root.addEventListener("scroll", again, true); // of a row that has more lines than it shows
  document.fonts?.addEventListener("loadingdone", again);
  lines.dispose = () => {
    observer.disconnect();
    document.fonts?.removeEventListener("loadingdone", again);
  };
  return lines;
}

// header: of the token rows; pinned: pairs of side and position.
export function drawAlignment(lines, { alignment, least }, isOn, pinned) {
  const { root, node, button, svg } = lines;
  const row = root.querySelector(".tokens.target");
  const isThere = Boolean(row && alignment);
  Object.assign(lines, { links: isThere ? alignment : [], isOn: isThere && isOn, pinned });
  root.classList.toggle("with-lines", lines.isOn);
  if (isThere) root.querySelector(".tokens").append(node);
  button.setAttribute("aria-pressed", String(lines.isOn));
  button.title = `${isOn ? "Take the lines off" : "Draw lines"}: to ${MEANS}, from a weight of ${least} on`;
  root.append(svg);
  place(lines);
}

// Marks the lines of a token that is announced.
export function pointLines(lines, token) {
  lines.token = token;
  place(lines);
}

function place(lines) {
  const { root, svg, links, isOn } = lines;
  if (!isOn) return svg.replaceChildren();
  const box = root.getBoundingClientRect();
  const times = box.width / root.offsetWidth || 1; // of a scene that is shown smaller
  const rows = [...root.querySelectorAll(".tokens")];
  const isWrapped = rows.length !== 2 || rows.some(wraps);
  const strong = [...lines.pinned, [lines.token.side, lines.token.position]];
  const words = new Set(strong.map(([side, position]) => wordAt(root, side, position)).filter(Boolean));
  const drawn = links.map(([target, source, weight]) => {
    const ends = [wordAt(root, "source", source), wordAt(root, "target", target)];
    const isStrong = ends.some((end) => words.has(end));
    if ((isWrapped && !isStrong) || !ends.every(isSeen)) return null;
    const [from, to] = ends.map((end) => end.getBoundingClientRect());
    const x = [from, to].map(({ left, width }) => (left + width / 2 - box.left) / times);
    const y = [from.bottom - box.top, to.top - box.top].map((each) => each / times);
    return line(x, y, weight, isStrong, [target, source]);
  });
  svg.replaceChildren(...drawn.filter(Boolean));
}

function line(x, y, weight, isStrong, [target, source]) {
  const node = document.createElementNS(SVG, "line");
  const ends = { x1: x[0], y1: y[0], x2: x[1], y2: y[1], "stroke-width": 0.5 + 3 * weight };
  for (const [name, value] of Object.entries(ends)) node.setAttribute(name, value.toFixed(2));
  node.classList.toggle("strong", isStrong);
  Object.assign(node.dataset, { target, source, weight });
  return node;
}

function wordAt(root, side, position) {
  if (position === null || position === undefined) return null;
  return root.querySelector(`.chip[data-side="${side}"][data-position="${position}"]`)?.closest(".word");
}

function wraps(row) {
  const words = row.querySelectorAll(".word");
  return words.length > 0 && words[words.length - 1].offsetTop - words[0].offsetTop > words[0].offsetHeight / 2;
}

// A word may be out of sight in a row that scrolls.
function isSeen(word) {
  if (!word) return false;
  const [own, row] = [word, word.closest(".tokens")].map((each) => each.getBoundingClientRect());
  const middle = (own.top + own.bottom) / 2;
  return middle > row.top && middle < row.bottom;
}
