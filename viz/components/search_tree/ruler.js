// How wide nodes will be, before the page has laid them out: to ask the page would take it as long
// again as to paint them.

import { ranksOf } from "./nodes.js";
import { briefly, two } from "./readout.js";

const [ROOT, PADDING, FOLDED, APART, SPARE] = [9, 6, 18, 6, 2]; // px, as the style has them
const RANK = 2.1; // of a badge, in sizes of the type
const WIDEST = 14; // of a piece, in sizes of the type

// beside: an element with the type of the nodes.
export function createRuler(beside) {
  const pen = document.createElement("canvas").getContext("2d");
  const { fontSize, fontFamily } = getComputedStyle(beside);
  const size = Number.parseFloat(fontSize);
  const known = new Map();
  let ready = 0; // the weight that the pen has: to give it a font takes longer than to measure
  // Digits are all as wide as a 0 on the page.
  const width = (text, weight) => {
    const key = `${weight} ${text}`;
    if (!known.has(key)) {
      if (weight !== ready) pen.font = `${weight} ${size}px ${fontFamily}`;
      ready = weight;
      known.set(key, pen.measureText(text.replace(/\d/g, "0")).width);
    }
    return known.get(key);
  };
  return {
    node({ place, piece: [label], logProb, isWritten }) {
      if (place === 0) return ROOT;
      if (place < 0) return width(label, 400) + FOLDED;
      const share = briefly(logProb);
      const ofPiece = Math.min(WIDEST * size, width(label, isWritten ? 600 : 400));
      return ofPiece + (share ? width(share, 400) + APART : 0) + PADDING + SPARE;
    },
    end: (end) => Math.max(RANK * size, width(ranksOf(end), 600) + 0.6 * size) + APART + width(two(end.score.total), 400) + SPARE,
  };
}
