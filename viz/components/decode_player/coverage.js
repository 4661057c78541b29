// What each source word has received so far, below the strip of a step and in its columns.

import { element } from "../kit/page.js";
import { shadeChip } from "../kit/shade.js";

export function createCoverage() {
  const node = element("div", "coverage");
  const [title, cells] = [element("div", "dim small"), element("div", "cells")];
  cells.setAttribute("role", "list");
  node.append(title, cells);
  return { node, title, cells };
}

// strip: the list of the columns, in one line; else nothing could stand below each of them.
export function fitCoverage({ node, cells }, strip, soFar) {
  const nodes = [...strip.children];
  node.hidden = !soFar || !strip.classList.contains("in-line");
  if (node.hidden) return;
  cells.dir = strip.dir;
  if (cells.children.length !== nodes.length) {
    cells.replaceChildren(...nodes.map(() => element("span", "cell")));
  }
  nodes.forEach((each, i) => {
    const cell = cells.children[i];
    cell.style.width = `${each.offsetWidth}px`;
    cell.setAttribute("role", "listitem");
  });
  cells.classList.toggle("narrow", strip.classList.contains("narrow"));
}

// Beyond 1 the shade is that of 1: a word has then been read as much as one written word can read.
export function showCoverage({ node, title, cells }, { header, soFar, source, palette }, step) {
  if (!soFar || node.hidden) return;
  title.textContent = `Received so far, in the mean of the heads of layer ${header.layer}`;
  const width = soFar.shape[1];
  [...cells.children].forEach((cell, i) => {
    const value = soFar[step * width + i];
    shadeChip(cell, Math.min(1, value), palette);
    cell.textContent = value.toFixed(2);
    const name = source.children[i].querySelector(".piece").textContent;
    cell.title = `${name}: ${value.toFixed(4)} after step ${step + 1}`;
    cell.dataset.value = value;
  });
}
