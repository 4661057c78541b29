// What search_tree is given, as viz/components/search_tree/search_tree.py packs it: its entries are
// tokens, or the words that they make, and each has its place in the picture.

import { filled, fixed } from "./numbers.js";
import { digest, pack } from "./pack.js";
import { wordPiece } from "./words.js";

// answer: of viz/live/engine/answer.js.
export function searchTree(site, answer, { asWords }) {
  const { tree, token, source } = answer;
  const { nodes, leaves } = tree;
  const { folded } = site.search_tree;
  const { entries, nLeftOut } = entriesOf(site, tree, token, asWords);
  const parents = entries.map(({ parent }) => parent);
  const scores = entries.map(({ node }) => node.score);
  const toTheEdge = entries.map(({ node }) => node.hypothesis !== null);
  const places = layout(parents, childrenOf(entries), toTheEdge);
  const chain = sharedChain(entries);
  const paths = [0];
  for (const { parent, logProb } of nodes.slice(1)) paths.push(paths[parent] + logProb);
  const reasons = [""]; // those of a step are often the same
  const ofReason = entries.map((entry) => placeIn(reasons, reasonOf(site.search_tree, entry)));
  const header = {
    search: digest(JSON.stringify(nodes.map((node) => [node.parent, node.token]))),
    source: digest(JSON.stringify(source.map(({ id }) => id))),
    labels: entries.map((entry) => labelOf(site.words, entry, asWords)),
    reasons,
    fold: chain.length >= folded ? chain.slice(1, -1) : [], // the first and the last one stay
    inner: innerOf(entries),
    n_left_out: nLeftOut,
    drawn: false, // no search of the browser draws by chance
    ranks: ranksOf(entries, leaves),
    words: asWords,
  };
  const whole = entries.flatMap(({ id, parent, node }, at) => {
    return [id, parent, ...places[at], node.hypothesis ?? -1, node.score.length, ofReason[at]];
  });
  const marks = entries.flatMap(({ isLiving, node }) => [Number(isLiving), Number(node.isForced)]);
  const numbers = entries.flatMap(({ id, logProb }, at) => {
    const { total, logProb: sum, divisor } = scores[at];
    return [logProb, total, sum, divisor, 0, paths[id]]; // no coverage penalty
  });
  const n = entries.length;
  return pack(
    header,
    [Int32Array.from(whole), n, 7],
    [Uint8Array.from(marks), n, 2],
    [Float32Array.from(numbers), n, 6],
  );
}

// Entries, parents first, each { id and node of the search at which it ends, parent: the place of
// the entry before it, tokens, logProb, isLiving, inner: the nodes of a word before its last }. Of
// too many, those that no hypothesis leads through go first, and of these the last in rank.
function entriesOf(site, { nodes, leaves }, token, asWords) {
  const spelled = [{ tokens: [], before: -1, logProb: 0, inner: [] }];
  for (const node of nodes.slice(1)) {
    spelled.push(wordOf(site, node, token(node.token), spelled[node.parent], asWords));
  }
  const ends = new Set([0, ...spelled.slice(1).map(({ before }) => before)]);
  const parents = new Set(nodes.map(({ parent }) => parent));
  const through = new Set([0, ...livingIn(nodes, leaves).map((id) => spelled[id].before)]);
  nodes.forEach(({ hypothesis }, id) => {
    if (!parents.has(id) || hypothesis !== null) ends.add(id);
    if (hypothesis !== null) through.add(id);
  });
  const places = new Map();
  const entries = [];
  nodes.forEach((node, id) => {
    if (!ends.has(id)) return;
    const { before, ...word } = spelled[id];
    places.set(id, entries.length);
    const parent = entries.length ? places.get(before) : -1;
    entries.push({ ...word, id, node, parent, isLiving: through.has(id) });
  });
  const best = bestOf(entries, site.search_tree.most);
  return { entries: best, nLeftOut: entries.length - best.length };
}

// The ids of the nodes after the root that lie on the path of a hypothesis.
function livingIn(nodes, leaves) {
  const living = new Set();
  for (const end of leaves) for (let id = end; id; id = nodes[id].parent) living.add(id);
  return [...living];
}

// A word as far as a node has written it; before: the node that its first token comes after.
function wordOf({ words, search_tree: { most_pieces: most } }, node, last, so, asWords) {
  const { tokens, before, logProb, inner } = so;
  const isInside = asWords && tokens.length > 0 && tokens.length < most;
  if (isInside && !beginsWord(words, tokens.at(-1), last)) {
    const whole = [...tokens, last];
    if (words.groups(whole).length === 1) {
      const sum = logProb + node.logProb;
      return { tokens: whole, before, logProb: sum, inner: [...inner, node.parent] };
    }
  }
  return { tokens: [last], before: node.parent, logProb: node.logProb, inner: [] };
}

// Whether a token plainly begins a word; else the rule of words is asked.
function beginsWord(words, before, last) {
  const isSpaced = words.isSpace(last.piece.charAt(0)) && last.piece.length > 1;
  return isSpaced && !words.isSpace(before.piece.charAt(before.piece.length - 1));
}

function bestOf(entries, most) {
  if (entries.length <= most) return entries;
  const order = [...entries.keys()].sort((a, b) => {
    const [one, other] = [entries[a], entries[b]];
    return other.isLiving - one.isLiving || one.node.rank - other.node.rank;
  });
  const chosen = new Set();
  for (const place of order) {
    const path = [];
    for (let at = place; at >= 0 && !chosen.has(at); at = entries[at].parent) path.push(at);
    if (!entries[place].isLiving && chosen.size + path.length > most) continue;
    for (const at of path) chosen.add(at);
  }
  const left = [...chosen].sort((a, b) => a - b);
  const places = new Map(left.map((old, place) => [old, place]));
  return left.map((old) => ({ ...entries[old], parent: places.get(entries[old].parent) ?? -1 }));
}

// The children of each entry from top to bottom: of the best hypothesis, which goes straight on,
// then those that soon end, so that they stand near it; equally long ones by their score.
function childrenOf(entries) {
  const best = entries.map(({ node }) => node.hypothesis ?? Infinity);
  const length = entries.map(() => 1);
  for (let place = entries.length - 1; place > 0; place--) {
    const { parent } = entries[place];
    best[parent] = Math.min(best[parent], best[place]);
    length[parent] = Math.max(length[parent], length[place] + 1);
  }
  const total = (place) => entries[place].node.score.total;
  const byRank = (a, b) => (best[a] === best[b] ? total(b) - total(a) : best[a] - best[b]);
  const children = new Map();
  entries.forEach(({ parent }, place) => {
    if (place) children.set(parent, [...(children.get(parent) ?? []), place]);
  });
  for (const [parent, all] of children) {
    const [first, ...others] = all.toSorted(byRank);
    others.sort((a, b) => length[a] - length[b] || byRank(a, b));
    children.set(parent, [first, ...others]);
  }
  return children;
}

// [column, row] of each entry: a node stands in the row of its first child, and subtrees are packed
// as closely as their outlines allow (Reingold and Tilford 1981). toTheEdge: leaves that keep their
// row free up to the right edge.
function layout(parents, children, toTheEdge) {
  const columns = parents.map(() => 0);
  for (let at = 1; at < parents.length; at++) columns[at] = columns[parents[at]] + 1;
  const last = columns.reduce((a, b) => Math.max(a, b), 0);
  const below = parents.map(() => 0); // rows that each child is below the first one
  const outlines = new Map();
  for (let at = parents.length - 1; at >= 0; at--) {
    const room = toTheEdge[at] ? last - columns[at] : 0;
    const outline = children.has(at) ? stacked(outlines, below, children.get(at)) : [];
    while (outline.length < room + 1) outline.push(0);
    outlines.set(at, outline);
  }
  const rows = parents.map(() => 0);
  for (let at = 1; at < parents.length; at++) rows[at] = rows[parents[at]] + below[at];
  return parents.map((_, at) => [columns[at], rows[at]]);
}

// Puts subtrees below each other, and returns the lower outline of all, a row for each column.
function stacked(outlines, below, children) {
  const [whole, ...others] = children.map((child) => outlines.get(child));
  others.forEach((outline, i) => {
    const n = Math.min(whole.length, outline.length);
    // Nothing of a subtree is above its root, so its root's row clears what is above all of it.
    const by = whole.slice(0, n).reduce((a, b) => Math.max(a, b)) + 1;
    below[children[i + 1]] = by;
    outline.forEach((row, column) => {
      whole[column] = row + by;
    });
  });
  return [0, ...whole];
}

// The places after the root that every hypothesis shares, up to where they part; none where they
// do not.
function sharedChain(entries) {
  const following = new Map();
  entries.forEach(({ parent, isLiving }, place) => {
    if (place && isLiving) following.set(parent, [...(following.get(parent) ?? []), place]);
  });
  const chain = [];
  let place = 0;
  while (following.get(place)?.length === 1) {
    [place] = following.get(place);
    chain.push(place);
  }
  return following.has(place) ? chain : [];
}

// Pairs of a node within a word and the place of that word, of a living one if there is.
function innerOf(entries) {
  const places = new Map(entries.map(({ id }, place) => [id, place]));
  const pairs = new Map();
  entries.forEach(({ inner, isLiving }, place) => {
    for (const id of inner) {
      const before = places.get(id);
      if (before !== undefined && (!isLiving || entries[before].isLiving)) continue;
      places.set(id, place);
      pairs.set(id, place);
    }
  });
  return [...pairs];
}

// Of each place at which several hypotheses end, as equal ones do, their ranks from 1 on.
function ranksOf(entries, leaves) {
  const ofPlaces = entries.map(({ id }, place) => {
    return [place, leaves.flatMap((end, rank) => (end === id ? [rank + 1] : []))];
  });
  return Object.fromEntries(ofPlaces.filter(([, ranks]) => ranks.length > 1));
}

// The label, of a word without the sign of its space, and whether it is special.
function labelOf(words, { tokens }, asWords) {
  if (!tokens.length) return ["", 0];
  const piece = tokens.length > 1 ? wordPiece(tokens).replace(/^▁/, " ") : tokens[0].piece;
  const token = { id: 0, piece, special: tokens[0].special };
  return [asWords ? words.bareLabel(token) : words.label(token), Number(Boolean(token.special))];
}

// Why nothing that is drawn was written after it; empty where something was.
function reasonOf({ reasons, beaten, continued }, { isLiving, node: { dropped } }) {
  if (isLiving) return "";
  if (!dropped) return continued;
  if (dropped.score === null) return reasons[dropped.why];
  const score = fixed(dropped.score, 2).replace("-", "−");
  return reasons[dropped.why] + filled(beaten, { score });
}

function placeIn(list, text) {
  if (!list.includes(text)) list.push(text);
  return list.indexOf(text);
}
