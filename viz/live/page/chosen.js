// What is chosen, with what the model or the page says where nothing is; and which pictures show it.

import { joined, listed, numbers } from "./address.js";
import { LARGE, PAGES } from "./pages.js";
import { readSecond } from "./second.js";

// screens: how an address is read. models: as viz/live/models.py writes them, the first one the page's.
// opening: choices of which the picture that a checkpoint opens with has none.
export function readChosen(screen, screens, models, opening) {
  const value = (name) => screens.valueOf(screen, name);
  const isOn = (name) => value(name) === "yes";
  const model = models.find(({ name }) => name === value("checkpoint")) ?? models[0];
  const kind = model.kinds[value("kind")] ? value("kind") : model.opens_at[0];
  const usual = value("kind") === kind ? [kind, 0, 0] : model.opens_at;
  const { n_layers: nLayers, n_heads: nHeads } = model.kinds[kind];
  const isWriter = model.methods.length > 0;
  const page = PAGES[value("page")]?.isOffered(model) ? value("page") : "explore";
  const { isUnchanged, hasSecond } = PAGES[page];
  const made = joined(listed(value("edits")).filter((each) => isDone(each, model)));
  const isOpening = opening.every((name) => !(name in screen));
  const place = (name, most, otherwise) =>
    value(name) === "" ? otherwise : Math.min(Number(value(name)), most - 1);
  const chosen = {
    page,
    model,
    text: model.file ? model.text : (screen.text ?? model.examples[0]),
    method: model.methods.some(([name]) => name === value("decoding"))
      ? value("decoding")
      : model.methods[0]?.[0],
    prefix: isWriter ? numbers(value("prefix"), ".") : [],
    edits: isUnchanged ? "" : made, // in force
    made, // on Explore
    kind,
    layer: place("layer", nLayers, usual[1]),
    head: place("head", nHeads, usual[2]),
    heads: value("heads") ? numbers(value("heads"), ",") : null,
    asWords: value("tokens") !== "pieces",
    special: value("special") || (isOpening ? model.special : "shown"),
    pins: value("pins") ? value("pins").split(",") : [],
    cell: value("cell") ? numbers(value("cell"), ",") : null,
    picture: largeOf(model).includes(value("picture")) ? value("picture") : "arrows",
    step: Number(value("step")),
    lines: Number(value("lines")),
    tool: isUnchanged || model.file ? "look" : value("tool"),
    tint: value("tint") || "log_prob",
    alignment: isOn("alignment"),
    path: isOn("path"),
    ownScale: isOn("own_scale"),
    mean: isOn("mean"),
    listed: { kind: value("heads_kind"), find: value("heads_find"), order: value("heads_order") },
    sweep: { sort: value("sweep_sort"), kind: value("sweep_kind"), isAsked: isOn("sweep_asked") },
    view: { show: value("show"), sort: value("sort"), top: Number(value("top")) },
  };
  return { ...chosen, b: hasSecond ? readSecond(value, chosen, models) : null };
}

// The large pictures of a model; a file of weights has no queries and keys to look inside of.
export const largeOf = ({ file }) => Object.keys(LARGE).filter((name) => name !== "inside" || !file);

// [name, what its payload is made of] of each picture, in the order in which they are painted.
export function pictures(it, components) {
  const { kind, layer, head, asWords, special, cell, mean } = it;
  const reading = { words: asWords, special };
  const of = {
    token_rows: { asWords },
    head_grid: { reading },
    head_view: { kind, layer, reading },
    head_map: { kind, layer, head, reading },
    cell_steps: { kind, layer, head, cell, asWords },
    search_tree: { asWords },
    decode_player: { layer, head: mean ? null : head, asWords },
  };
  if (it.b) {
    const headOf = (each) => ({ kind: each.kind, layer: each.layer, head: each.head });
    const [first, second] = [it, it.b].map(headOf);
    const both = { first, second, reading };
    Object.assign(of, { comparison: both, "head_map difference": both });
    for (const large of ["head_view", "head_map"]) {
      of[`${large} a`] = of[large];
      of[`${large} b`] = { ...of[large], ...second };
    }
  }
  const isDrawn = (name) => name.split(" ")[0] in components || name === "comparison";
  return PAGES[it.page].pictures(it).filter(isDrawn).map((name) => [name, of[name]]);
}

// Whether the engine makes an edit: it names a head that there is, or a word.
function isDone(edit, { kinds, side }) {
  const [, name, place] = /^([\w-]+):(.*)$/s.exec(edit) ?? [];
  const [kind, ...at] = place?.split(".") ?? [];
  if (name === "hide") return kind === side && at.length === 1;
  if (name !== "head-off" && name !== "cut") return false;
  const isThere = at[0] < kinds[kind]?.n_layers && at[1] < kinds[kind].n_heads;
  return isThere && at.length === (name === "cut" ? 4 : 2);
}
