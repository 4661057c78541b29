// The nodes of a search as the server packs them, and which of them are drawn.

// What viz/components/search_tree/search_tree.py packs.
export function readSearch({ header, arrays: [whole, marks, numbers] }) {
  const { labels, reasons, fold, words, inner, source, search: name } = header;
  const { n_left_out: nLeftOut, drawn: bySeed, ranks } = header;
  const nodes = labels.map((piece, place) => {
    const [id, parent, column, row, hypothesis, length, reason] = rowOf(whole, place);
    const [isLiving, isForced] = rowOf(marks, place);
    const [logProb, total, sum, divisor, coverage, path] = rowOf(numbers, place);
    return {
      place, id, parent, column, row, hypothesis, length, piece, isLiving, isForced, logProb, path,
      ranks: ranks[place] ?? [hypothesis + 1], // equal samples end at one node
      score: { total, sum, divisor, coverage },
      reason: reasons[reason],
      children: [],
      isWritten: false,
    };
  });
  for (const node of nodes.slice(1)) nodes[node.parent].children.push(node.place);
  for (const { children } of nodes) children.sort((a, b) => nodes[a].row - nodes[b].row);
  const best = nodes.find(({ hypothesis }) => hypothesis === 0);
  const ids = new Map([...nodes.map(({ id, place }) => [id, place]), ...inner]);
  return { name, source, nodes, fold, words, nLeftOut, bySeed, ids, best: best?.place ?? 0 };
}

// Marks the nodes that lead to what other pictures show: to a node by its id, else to the best end.
export function markWritten({ nodes, ids, best }, end) {
  for (const node of nodes) node.isWritten = false;
  for (const node of pathOf(nodes, nodes[ids.get(end) ?? best])) node.isWritten = true;
}

function rowOf(array, place) {
  const [, n] = array.shape;
  return array.subarray(place * n, (place + 1) * n);
}

// From the root to a node.
export function pathOf(nodes, node) {
  const path = [];
  for (let at = node; at; at = nodes[at.parent]) path.unshift(at);
  return path;
}

// A node by its words, which it keeps while the text grows; the root by the first word of the best text.
export function nameOf({ nodes, best }, place) {
  const path = pathOf(nodes, nodes[place]).slice(1);
  return path.length ? path.map(({ piece }) => piece).join(" ") : `before ${pathOf(nodes, nodes[best])[1]?.piece}`;
}

// Whether a place is drawn; -1 is that of what is folded.
export function isDrawn(search, place, { isFolded, isBare }) {
  if (place === null) return false;
  if (place < 0) return isFolded && search.fold.length > 0;
  return drawnNodes(search, isFolded, isBare).has(place);
}

// The places that are drawn. Where nodes are folded, nothing but a hypothesis stands in their columns.
export function drawnNodes({ nodes, fold }, isFolded, isBare) {
  const folded = new Set(isFolded ? fold : []);
  const columns = new Set([...folded].map((place) => nodes[place].column));
  const drawn = new Set([0]);
  for (const { place, parent, column, isLiving } of nodes.slice(1)) {
    const isShown = drawn.has(parent) || (folded.has(parent) && isLiving);
    const isLeft = !isLiving && (isBare || columns.has(column));
    if (isShown && !folded.has(place) && !isLeft) drawn.add(place);
  }
  return drawn;
}

const MOST = 3; // ranks for which there is room at the edge

export function ranksOf({ ranks }) {
  return ranks.length > MOST ? `${ranks.slice(0, MOST).join(", ")} …` : ranks.join(", ");
}
