// Arrow keys in a tree that grows to the right: where each leads from a place.

import { drawnNodes } from "./nodes.js";

// undefined: the key does not walk; null: it leads nowhere from here.
export function after(key, place, { search, isFolded, isBare }) {
  const { nodes, fold, best } = search;
  const drawn = drawnNodes(search, isFolded, isBare);
  const isFoldDrawn = isFolded && fold.length > 0;
  const shown = (at) => (at !== undefined && !drawn.has(at) && fold.includes(at) ? -1 : at);
  const isThere = (at) => at === -1 || drawn.has(at);
  const [first, last] = [nodes[fold[0]], nodes[fold.at(-1)]];
  if (key === "Home") return 0;
  if (key === "End") return best;
  if (key === "ArrowLeft") {
    const parent = place < 0 ? first.parent : nodes[place].parent;
    return parent < 0 ? null : shown(parent);
  }
  if (key === "ArrowRight") {
    const { children } = place < 0 ? last : nodes[place];
    return children.map(shown).find(isThere) ?? null;
  }
  if (key !== "ArrowUp" && key !== "ArrowDown") return undefined;
  const { column, row } = place < 0 ? first : nodes[place];
  const beside = nodes.filter((node) => node.column === column && drawn.has(node.place));
  const places = beside.map((node) => [node.row, node.place]);
  if (isFoldDrawn && place >= 0 && first.column === column) places.push([first.row, -1]);
  const isUp = key === "ArrowUp";
  const on = places.filter(([at]) => (isUp ? at < row : at > row)).sort(([a], [b]) => a - b);
  return (isUp ? on.at(-1) : on[0])?.[1] ?? null;
}
