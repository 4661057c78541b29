// What components tell, as the pages of the app hear it: each is a change of what is chosen.

import { listed } from "./address.js";
import { largeOf } from "./chosen.js";
import { moved, pinToken, pinsOf } from "./pins.js";

// page: { chosen(), choose(changes, isEntry), facts(), sides(), components }; strip: of the edits.
export function createActs(page, strip) {
  const pinned = (pins) => pins.join(",") || null;

  // A token of the two lines. Where the attention that is shown has it not, as an encoder has no
  // written word, another kind is shown.
  function pin({ side, position, key: asKey }) {
    const [it, sides] = [page.chosen(), page.sides()];
    if (!sides) return; // no picture is here
    const others = Object.keys(sides).filter((kind) => kind !== it.kind);
    others.sort((a, b) => (b === "cross") - (a === "cross"));
    for (const kind of [it.kind, ...others]) {
      const own = pinsOf(sides[kind], side, position);
      if (!own.length) continue;
      const isSame = kind === it.kind;
      const before = isSame ? it.pins : moved(it.pins, sides[it.kind], sides[kind]);
      const turned = isSame ? {} : { kind, layer: null, head: null };
      page.choose({ ...turned, pins: pinned(pinToken(before, own, asKey)), cell: null });
      return;
    }
  }

  function open([kind, layer, head]) {
    const [it, sides] = [page.chosen(), page.sides()];
    const pins = sides ? moved(it.pins, sides[it.kind], sides[kind]) : [];
    page.choose({ kind, layer: String(layer), head: String(head), pins: pinned(pins) }, true);
  }

  // So many heads on, layer by layer, as long as there are any.
  function turn(by, name) {
    const it = page.chosen();
    if (isOfB(name)) return turnB(it.b, by);
    const { kind, layer, head, model } = it;
    const { n_layers: nLayers, n_heads: nHeads } = model.kinds[kind];
    const place = layer * nHeads + head + by;
    if (place < 0 || place >= nLayers * nHeads) return;
    open([kind, Math.floor(place / nHeads), place % nHeads]);
  }

  const isOfB = (name) => name.endsWith(" b");

  function turnB({ kind, layer, head, model }, by) {
    const { n_layers: nLayers, n_heads: nHeads } = model.kinds[kind];
    const place = layer * nHeads + head + by;
    if (place < 0 || place >= nLayers * nHeads) return;
    const at = { layer_b: String(Math.floor(place / nHeads)), head_b: String(place % nHeads) };
    page.choose({ kind_b: kind, ...at }, true);
  }

  function off(heads) {
    const { edits } = page.chosen();
    const others = listed(edits).filter((each) => !each.startsWith("head-off:"));
    strip.edit(edits, [...others, ...heads.map((head) => `head-off:${head.join(".")}`)]);
  }

  // lines: [head, row, column] of each; a word may be of several pieces.
  function cut(lines) {
    const { edits, kind, layer } = page.chosen();
    const { rows, columns } = page.facts().groups[kind];
    const cuts = lines.flatMap(([head, row, column]) =>
      rows[row].flatMap((query) =>
        columns[column].map((key) => `cut:${kind}.${layer}.${head}.${query}.${key}`),
      ),
    );
    strip.edit(edits, [...listed(edits), ...cuts]);
  }

  function cell([row, column], name) {
    const it = page.chosen();
    if (it.b) {
      if (name.endsWith(" a")) page.choose({ pins: `q${row},k${column}` });
      return;
    }
    if (it.tool === "arrows") return cut([[it.head, row, column]]);
    const { rows, columns } = page.facts().groups[it.kind];
    const isInside = "cell_steps" in page.components && largeOf(it.model).includes("inside");
    const picture = isInside ? "inside" : it.picture;
    const place = `${rows[row][0]},${columns[column][0]}`;
    page.choose({ cell: place, picture, pins: `q${row},k${column}` });
  }

  function view(value, name) {
    if (name === "head_grid") {
      page.choose({ show: value.show, sort: value.sort, top: String(value.top) });
      return;
    }
    const { head, b } = page.chosen();
    if (isOfB(name)) {
      const isHere = value.heads.length === 1 && value.heads[0] === b.head;
      page.choose({ lines: String(value.lines), heads_b: isHere ? null : value.heads.join(",") || "none" });
      return;
    }
    const isOne = value.heads.length === 1 && value.heads[0] === head;
    const heads = isOne ? null : value.heads.join(",") || "none";
    page.choose({ pins: pinned(value.pins), lines: String(value.lines), cell: null, heads });
  }

  // The tokens that lead to a node of the search.
  function pathTo(id) {
    const { nodes } = page.facts();
    const ids = [];
    for (let node = id; node > 0; node = nodes[node][0]) ids.unshift(nodes[node][1]);
    return ids;
  }

  const stepAt = (ids) => String(Math.max(0, ids.length - 1));
  const goOn = (ids) => page.choose({ prefix: ids.join("."), step: stepAt(ids) }, true);

  return {
    pin,
    open,
    turn,
    off,
    cut,
    cell,
    view,
    tint: (tint) => page.choose({ tint }),
    alignment: (isOn) => page.choose({ alignment: isOn ? "yes" : null }),
    step: (step) => page.choose({ step: String(step) }),
    node: ([, id]) => page.choose({ step: stepAt(pathTo(id)) }),
    // Of the tree: the name of the search and a node; of the player: the tokens themselves.
    branch: (news, name) => goOn(name === "search_tree" ? pathTo(news[1]) : news),
    taken: (edits) => strip.edit(page.chosen().edits, [...listed(page.chosen().edits), ...edits]),
  };
}
