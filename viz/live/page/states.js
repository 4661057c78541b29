// What moves over a payload: the state of each picture, as its `data` in viz/components is given it.

import { listed } from "./address.js";
import { moved } from "./pins.js";

// it: what is chosen, with `facts` of the answer, the tokens that are `pinned`, and `signs` of tokens.
// name: of a component; of those on Compare with " a", " b" or " difference".
export function stateOf(name, chosen) {
  const [component, which] = name.split(" ");
  const it = which === "b" ? ofSecond(chosen) : chosen;
  const beside = which ? { twin: chosen.twins?.[which] ?? {} } : {};
  if (which === "difference") return {};
  const { kind, layer, head, pins, tool, facts, pinned, step } = it;
  const edits = listed(it.edits);
  const off = heads(edits, "head-off:");
  const isHere = (place) => place[0] === kind && place[1] === layer;
  const states = {
    token_rows: {
      pinned,
      signs: it.signs,
      awaited: "",
      judges: false,
      tint: it.tint,
      alignment: it.alignment,
    },
    head_grid: {
      selected: [kind, layer, head],
      view: it.view,
      pinned,
      own_scale: it.ownScale,
      speaks: false, // the large picture does
      tool,
      off,
      edited: heads(edits, "cut:"),
      edits,
    },
    head_view: {
      head,
      heads: it.heads ?? [head],
      pins,
      lines: it.lines,
      tool,
      cuts: `cut:${kind}.${layer}`,
      edits,
      off: off.filter(isHere).map((place) => place[2]),
    },
    head_map: {
      pins,
      path: it.path,
      own_scale: it.ownScale,
      asks: false,
      is_off: off.some((place) => isHere(place) && place[2] === head),
    },
    decode_player: { step, branches: true },
    search_tree: { node: facts?.best[step + 1] ?? null, end: facts?.best.at(-1) ?? null },
  };
  return { ...states[component], ...beside };
}

// The same of B: what is pinned in A is pinned there where both read the same tokens.
function ofSecond(it) {
  const { kind, layer, head, heads: shown, edits } = it.b;
  const isSame = it.sides && it.twins && !Object.keys(it.twins.b).length;
  const pins = isSame && it.sides[kind] ? moved(it.pins, it.sides[it.kind], it.sides[kind]) : [];
  return { ...it, kind, layer, head, heads: shown, edits, pins };
}

// "head-off:cross.2.3", "cut:cross.2.3.5.7" -> kind, layer, head; each once.
function heads(edits, name) {
  const own = edits.filter((each) => each.startsWith(name));
  const places = own.map((each) => each.slice(name.length).split(".").slice(0, 3).join("."));
  return [...new Set(places)].map((place) => {
    const [kind, layer, head] = place.split(".");
    return [kind, Number(layer), Number(head)];
  });
}
