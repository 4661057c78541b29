// Figures as files: to the clipboard, or saved.

import { paintFigure } from "./paint.js";
import { described } from "./png.js";
import { svgOf } from "./svg.js";

export function svgFile(figure) {
  return new Blob([svgOf(figure)], { type: "image/svg+xml" });
}

export async function pngFile(figure, scale) {
  const canvas = paintFigure(figure, scale);
  const plain = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!plain) throw new Error("The browser could not make an image of this size.");
  const texts = { Title: figure.title, Description: figure.text, Source: figure.link };
  const bytes = described(new Uint8Array(await plain.arrayBuffer()), texts, scale);
  return new Blob([bytes], { type: "image/png" });
}

// file: a blob, or the promise of one. Whether the clipboard took it.
export async function copied(file) {
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": file })]);
    return true;
  } catch {
    return false; // refused, or there is none: it needs https, or this very machine
  }
}

export function save(file, name) {
  const link = document.createElement("a");
  Object.assign(link, { href: URL.createObjectURL(file), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// "en-de · Cross-attention, L2 H3" -> "en-de-cross-attention-l2-h3"
export function fileName(caption) {
  const words = caption.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? ["figure"];
  return words.join("-").slice(0, 80).replace(/-$/, "");
}
