// The search as a value: every node that a decoding looked at, and why it was left; as
// transformer/decoding/search_tree.py has it.

// Written on the way: entries in the order in which a search looked at them; 0 is the root.
export function openTrail() {
  return { entries: [entryOf(-1, -1, 0, 0, 0, 1, 0, false)], at: new Map() };
}

function entryOf(parent, token, logProb, total, length, divisor, rank, isForced) {
  return { parent, token, logProb, total, length, divisor, rank, isForced, why: null, by: null };
}

const placeOf = (parent, token) => `${parent} ${token}`;

// Writes down a token after a parent, and returns its id. The same token after the same parent is
// one node, and no longer a dropped one. total: what is ranked by along the path; null: the sum of
// logProb.
export function add(trail, parent, token, logProb, more = {}) {
  const { total = null, divisor = 1, rank = 0, isForced = false } = more;
  const place = placeOf(parent, token);
  const known = trail.at.get(place);
  if (known !== undefined) {
    trail.entries[known].why = null;
    return known;
  }
  const before = trail.entries[parent];
  const sum = total ?? before.total + logProb;
  const length = before.length + 1;
  trail.at.set(place, trail.entries.length);
  trail.entries.push(entryOf(parent, token, logProb, sum, length, divisor, rank, isForced));
  return trail.entries.length - 1;
}

export function isNoted(trail, parent, token) {
  return trail.at.has(placeOf(parent, token));
}

// Says why nothing is written after a node; by: the node that beat it, or null.
export function drop(trail, id, why, by = null) {
  Object.assign(trail.entries[id], { why, by });
}

// leaves: the node at which each hypothesis ends, best first. Returns { nodes, leaves }, a node
// being { parent, token, logProb, score: { logProb, length, divisor, total }, rank, dropped: { why,
// by, score } or null, isForced, hypothesis: a rank or null }; its id is its place, the root's
// parent is null.
export function treeOf({ entries }, leaves) {
  const ends = new Map(leaves.map((id, rank) => [id, rank]).toReversed());
  const nodes = entries.map((entry, id) => ({
    parent: id ? entry.parent : null,
    token: id ? entry.token : null,
    logProb: entry.logProb,
    score: scoreOf(entry),
    rank: entry.rank,
    dropped: entry.why && droppedOf(entries, entry),
    isForced: entry.isForced,
    hypothesis: ends.get(id) ?? null,
  }));
  return { nodes, leaves };
}

function scoreOf({ total, length, divisor }) {
  return { logProb: total, length, divisor, total: total / divisor };
}

function droppedOf(entries, { why, by }) {
  return { why, by, score: by === null ? null : scoreOf(entries[by]).total };
}
