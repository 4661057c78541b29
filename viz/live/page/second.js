// B of Compare: which it is, another checkpoint, or A with edits or by another method, and its head, as
// viz/pages/compare/second.py finds them in an address.

import { listed, numbers } from "./address.js";

// value(name): of a choice. it: what is chosen of A. Returns { of, model, kind, layer, head, heads, edits,
// isLocked, request }; of: "same", "edits", "method" or "checkpoint"; isLocked: whether it shows A's head;
// request: what the worker is asked.
export function readSecond(value, it, models) {
  const { model, method, made } = it;
  const [name, by] = [value("checkpoint_b"), value("method_b")];
  const isOther = (other) => other.name === name && name !== model.name && !other.file;
  const second = models.find(isOther);
  const isMethod = !name && by !== method && model.methods.some(([each]) => each === by);
  const isEdited = !name && !isMethod && value("edited_b") === "yes";
  const of = second ? "checkpoint" : isMethod ? "method" : isEdited ? "edits" : "same";
  const own = second ?? model;
  const isLocked = of !== "same" && value("same_head") === "yes";
  const hasMethod = own.methods.some(([each]) => each === method);
  const methodOf = hasMethod ? method : own.methods[0]?.[0];
  return {
    ...(isLocked && isIn(own, it) ? placeOf(it) : headOf(value, of, own, model)),
    of,
    model: own,
    isLocked,
    heads: value("heads_b") ? numbers(value("heads_b"), ",") : null,
    edits: isEdited ? made : "",
    isOwn: value("own_b") === "yes",
    request: {
      checkpoint: second ? name : null,
      method: isMethod ? by : second ? methodOf : null,
      edits: isEdited ? listed(made) : [],
      isOwn: isEdited && value("own_b") === "yes",
    },
  };
}

// The head of the same place, or the one beside it where B is A.
function headOf(value, of, own, { opens_at: [opens, opensLayer, opensHead] }) {
  const isKind = Boolean(own.kinds[value("kind_b")]);
  const first = own.kinds[opens] ? opens : Object.keys(own.kinds)[0];
  const kind = isKind ? value("kind_b") : first;
  const { n_layers: nLayers, n_heads: nHeads } = own.kinds[kind];
  const usual = isKind ? [0, 0] : [opensLayer, (opensHead + Number(of === "same")) % nHeads];
  const place = (which, otherwise, n) =>
    Math.min(value(which) === "" ? otherwise : Number(value(which)), n - 1);
  return { kind, layer: place("layer_b", usual[0], nLayers), head: place("head_b", usual[1], nHeads) };
}

const placeOf = ({ kind, layer, head }) => ({ kind, layer, head });

const isIn = ({ kinds }, { kind, layer, head }) =>
  layer < (kinds[kind]?.n_layers ?? 0) && head < kinds[kind].n_heads;

// What turns B into this one: another checkpoint is first looked at where A is. name: of an entry of
// `secondsOf`.
export function turnedTo(name, it) {
  const [sort, value] = name.split(" ");
  const staysSame = sort !== "same" && it.b.isLocked;
  return {
    checkpoint_b: sort === "checkpoint" ? value : null,
    method_b: sort === "method" ? value : null,
    edited_b: sort === "edits" ? "yes" : null,
    same_head: sort === "edits" || sort === "method" || staysSame ? "yes" : null,
    kind_b: it.kind,
    layer_b: String(it.layer),
    head_b: String(it.head),
  };
}

// [name, title] of all that B can be, and the name of what it is.
export function secondsOf({ b, model, method }, models, words) {
  const methods = model.methods.filter(([name]) => name !== method);
  const others = models.filter((each) => each !== model && !each.file);
  const all = [
    ["same", words.same],
    ["edits", words.edits],
    ...methods.map(([name, title]) => [`method ${name}`, words.by.replace("{method}", title.toLowerCase())]),
    ...others.map(({ name, label }) => [`checkpoint ${name}`, label]),
  ];
  const { checkpoint, method: by } = b.request;
  return [all, b.of === "checkpoint" ? `checkpoint ${checkpoint}` : b.of === "method" ? `method ${by}` : b.of];
}
