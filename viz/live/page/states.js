// What moves over a payload: the state of each picture, as its `data` in viz/components is given it.

import { listed } from "./address.js";

export function stateOf(name, it) {
  const edits = listed(it.edits);
  const off = edits.flatMap((each) => (each.startsWith("head-off:") ? [placeOf(each)] : []));
  const edited = edits.flatMap((each) => (each.startsWith("cut:") ? [placeOf(each)] : []));
  const heads = it.heads ?? [it.head];
  const states = {
    token_rows: () => ({ pinned: it.pinned, signs: it.signs ?? null, awaited: "", judges: false, tint: it.tint, alignment: it.alignment }),
    head_grid: () => ({
      selected: [it.kind, it.layer, it.head],
      view: it.view,
      pinned: it.pinned,
      own_scale: it.ownScale,
      speaks: false,
      tool: it.tool,
      off,
      edited,
      edits,
    }),
    head_view: () => ({
      head: it.head,
      heads,
      pins: it.pins,
      lines: it.lines,
      tool: it.tool,
      cuts: `cut:${it.kind}.${it.layer}`,
      edits,
      off: off.flatMap(([kind, layer, head]) => (kind === it.kind && layer === it.layer ? [head] : [])),
    }),
    head_map: () => ({
      pins: it.pins,
      path: it.path,
      own_scale: it.ownScale,
      asks: false,
      is_off: off.some(([kind, layer, head]) => kind === it.kind && layer === it.layer && head === it.head),
    }),
    decode_player: () => ({ step: it.step, branches: true }),
    search_tree: () => ({ node: it.target?.best?.[it.step + 1] ?? null, end: it.target?.best?.at(-1) ?? null }),
  };
  return states[name]?.() ?? {};
}

// "head-off:cross.2.3", "cut:cross.2.3.5.7" -> kind, layer, head.
function placeOf(edit) {
  const [kind, layer, head] = edit.slice(edit.indexOf(":") + 1).split(".");
  return [kind, Number(layer), Number(head)];
}
