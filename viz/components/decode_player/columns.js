// The columns of a step's strip, which are those of the map below it: pieces, or whole words.

const BESIDE = 140; // px of names and bars beside the map
const GAP = 2;
const LEAST = 14; // px of a column whose name is written upwards
const NUMBERED = 31; // and of one that has room for its weight

// groups: the positions that each column stands for. -1: no column has it.
export function columnAt(groups, position) {
  return groups.findIndex((group) => group.includes(position));
}

// A word may be pointed at by a piece that is not its first.
export function markColumn(node) {
  node?.classList.add("pointed");
}

// In one line, so that the map can stand below it: with its names upright where they need it. More
// columns than that stand in several lines, as a text.
export function fitStrip(list) {
  list.classList.remove("upright", "narrow");
  list.classList.add("in-line");
  const nodes = [...list.children];
  const room = list.parentNode.clientWidth - BESIDE;
  if (nodes.reduce((sum, node) => sum + node.offsetWidth + GAP, 0) <= room) return;
  const across = Math.floor(room / nodes.length) - GAP;
  if (across < LEAST) {
    list.classList.remove("in-line");
    return;
  }
  list.classList.add("upright");
  list.classList.toggle("narrow", across < NUMBERED);
  list.style.setProperty("--across", `${across}px`);
}
