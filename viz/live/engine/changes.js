// Changes of a model for one run, as data: spelled as everywhere ("head-off:cross.2.3"), a kind
// each.

import { layersOf, sideRead } from "./config.js";

// name -> of: the numbers of its place; what it does, one of: heads(change, z), z being what a head
// gives for a query [d_head]; scores(change, scores) of a query [K]; closes: place -> the kinds of
// attention in which nobody sees the word. All as transformer/edits has them.
export const KINDS = {
  "head-off": { of: ["layer", "head"], heads: (change, z) => z.fill(0) },
  cut: {
    of: ["layer", "head", "query", "key"],
    scores: ({ key }, scores) => {
      if (key < scores.length) scores[key] = -Infinity;
    },
  },
  hide: {
    of: ["word"],
    closes: { source: ["encoder_self", "cross"], text: ["encoder_self", "decoder_self"] },
  },
  "cut-word": { of: ["word"], closes: { cross: ["cross"] } },
};

// A spelled change -> { text, kind, place, layer, head, query, key, word }, those that its kind
// has.
export function changeOf(text) {
  const [name, rest = ""] = text.split(":", 2);
  const kind = KINDS[name];
  if (!kind) {
    const names = Object.keys(KINDS).join(", ");
    throw new Error(`Without a server these changes are made: ${names}; “${text}” is not.`);
  }
  const [place, ...numbers] = rest.split(".");
  if (numbers.length !== kind.of.length || !numbers.every((each) => /^\d{1,9}$/.test(each))) {
    const spelling = `${name}:PLACE.${kind.of.join(".").toUpperCase()}`;
    throw new Error(`“${text}” is not a change: write ${spelling}.`);
  }
  const named = kind.of.map((number, i) => [number, Number(numbers[i])]);
  return { text, kind, place, ...Object.fromEntries(named) };
}

// The changes of a run, ready for a model. spelled: their texts. config: "model" of config.json.
// words: the positions of each word of the source. Returns { closed: kind of attention -> positions
// of the source that nobody sees, heads: "kind.layer" -> head -> changes, read: what the encoder
// runs under, spelled }.
export function changesOf(spelled, config, words) {
  const changes = spelled.map(changeOf);
  const closed = { encoder_self: new Set(), decoder_self: new Set(), cross: new Set() };
  const heads = new Map();
  for (const change of changes) {
    check(change, config, words);
    if (change.kind.closes) {
      for (const kind of change.kind.closes[change.place]) {
        for (const position of words[change.word]) closed[kind].add(position);
      }
      continue;
    }
    const layer = `${change.place}.${change.layer}`;
    if (!heads.has(layer)) heads.set(layer, new Map());
    const own = heads.get(layer);
    own.set(change.head, [...(own.get(change.head) ?? []), change]);
  }
  const inEncoder = ({ kind, place }) =>
    place === "encoder_self" || kind.closes?.[place].includes("encoder_self");
  return { closed, heads, read: changes.filter(inEncoder).map(({ text }) => text).join(" ") };
}

// The cells of a layer that may be looked at, 1, as a Uint8Array [1 or H, Q, K], where some may
// not: null.
export function openCells({ closed, heads }, kind, layer, n_heads, n_queries, n_keys) {
  const isCausal = kind === "decoder_self";
  const hidden = closed[kind];
  const changed = heads.get(`${kind}.${layer}`) ?? new Map();
  const cut = [...changed].filter(([, changes]) => changes.some((each) => each.kind.scores));
  if (!isCausal && !hidden.size && !cut.length) return null;
  const size = n_queries * n_keys;
  const cells = new Uint8Array(cut.length ? n_heads * size : size);
  for (let query = 0; query < n_queries; query++) {
    for (let key = 0; key < n_keys; key++) {
      cells[query * n_keys + key] = (!isCausal || key <= query) && !hidden.has(key);
    }
  }
  for (let head = 1; head * size < cells.length; head++) cells.copyWithin(head * size, 0, size);
  for (const [head, changes] of cut) {
    for (let query = 0; query < n_queries; query++) {
      const row = cells.subarray(head * size + query * n_keys, head * size + (query + 1) * n_keys);
      const scores = Float64Array.from(row, (isOpen) => (isOpen ? 0 : -Infinity));
      for (const each of actsOn(changes, query)) each.kind.scores?.(each, scores);
      scores.forEach((score, key) => (row[key] = score > -Infinity));
    }
  }
  return cells;
}

// The changes of a head that are of a query: of all queries, or of this one.
export function actsOn(changes, query) {
  return changes.filter((each) => each.query === undefined || each.query === query);
}

// Of what is not there, as `check_edits` of transformer/editing has it.
function check(change, config, words) {
  const layers = layersOf(config);
  const { closes } = change.kind;
  const isThere = (side) => side === sideRead(config) || side in layers;
  const places = Object.keys(closes ?? layers).filter(isThere);
  if (!places.includes(change.place)) {
    const those = places.length ? `but ${places.join(", ")}` : "and nothing else to change so";
    throw new Error(`${change.text}: there is no ${change.place} here, ${those}.`);
  }
  const n_source = words.flat().length;
  const limits = { layer: layers[change.place], head: config.n_heads, word: words.length };
  if (change.place === "encoder_self") limits.query = n_source;
  if (change.place !== "decoder_self") limits.key = n_source;
  for (const number of change.kind.of) {
    if (change[number] < (limits[number] ?? Infinity)) continue;
    const those = `there are ${limits[number]}, counted from 0`;
    throw new Error(`${change.text}: there is no ${number} ${change[number]} here; ${those}.`);
  }
}
