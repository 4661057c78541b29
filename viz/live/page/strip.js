// The strip of an experiment: what is changed, what takes it back, and what is written then.

import { element } from "../../components/kit/page.js";
import { joined, listed } from "./address.js";
import { filled } from "./models.js";

// choose(edits): they are in force, as an address has them; decide(prefix) likewise.
export function createStrip(node, words, choose, decide) {
  const own = { before: [], undone: [], templates: {} }; // how edits of a model are said, from Python
  const at = (id) => node.querySelector(`#${id}`);

  // These edits, and no others, instead of those that are in force now; it can be taken back.
  function edit(now, edits) {
    const next = joined([...new Set(edits)]);
    if (next === now) return;
    own.before.push(now);
    own.undone = [];
    choose(next || null);
  }

  function goTo(now, from, to) {
    to.push(now);
    choose(from.pop() || null);
  }

  // it: what is chosen, with `facts` of the answer, the tokens that are pinned, and its outcome: the
  // words before and after.
  function draw({ edits, prefix, tool, facts, pinned, outcome, model }) {
    const all = listed(edits);
    own.templates = model.edits;
    node.hidden = tool === "look" && !all.length && !own.undone.length && !prefix.length;
    offerHiding(edits, tool, facts, pinned, model.side);
    at("undo").disabled = !own.before.length;
    at("redo").disabled = !own.undone.length;
    at("undo").onclick = () => goTo(edits, own.before, own.undone);
    at("redo").onclick = () => goTo(edits, own.undone, own.before);
    at("all-off").hidden = !all.length;
    at("all-off").onclick = () => edit(edits, []);
    const without = (each) => edit(edits, all.filter((other) => other !== each));
    const chips = all.map((each) => chip(textOf(each, facts), () => without(each)));
    if (prefix.length) chips.unshift(chip(`${words.begins} “${facts?.begins ?? ""}”`, () => decide(null)));
    at("edits").replaceChildren(...chips);
    at("help").textContent = own.before.length ? words.unchanged : words.help[tool];
    at("help").hidden = Boolean(all.length);
    at("outcome").replaceChildren(...(all.length && outcome ? [outputs(outcome, model)] : []));
  }

  function chip(text, remove) {
    const button = element("button", "", `${text} ×`);
    button.type = "button";
    button.title = words.take_back;
    button.onclick = remove;
    return button;
  }

  // A word of the source that is pinned can be hidden from every head.
  function offerHiding(edits, tool, facts, pinned, side) {
    const places = pinned.filter(([of]) => of === "source");
    const word = facts?.wordAt[places.at(-1)?.[1]];
    const spelled = `hide:${side}.${word}`;
    at("hide").hidden = tool === "look" || word === undefined || listed(edits).includes(spelled);
    at("hide").textContent = filled(words.hide, { word: facts?.read[word] });
    at("hide").onclick = () => edit(edits, [...listed(edits), spelled]);
  }

  function textOf(spelled, facts) {
    const { templates } = own;
    const [name, place] = spelled.split(/:(.*)/s);
    const [kind, layer, head, query, key] = place.split(".");
    const token = (side, position) => facts?.[side][kind]?.[position] ?? position;
    if (name === "hide") return filled(templates.hide, { word: facts?.read[Number(layer)] ?? layer });
    const where = templates.heads[`${kind}.${layer}.${head}`];
    if (!where) return spelled;
    if (name === "head-off") return filled(templates.off, { where });
    if (name !== "cut") return spelled;
    return filled(templates.cut, { where, query: token("queries", query), key: token("keys", key) });
  }

  function outputs({ before, after }, { methods }) {
    const list = element("dl");
    const [gone, came] = marked(before, after);
    list.append(element("dt", "", words.without), line(gone, "del"));
    list.append(element("dt", "", words.with), line(came, "ins"));
    const isSame = before.join(" ") === after.join(" ");
    if (isSame && methods.length) list.append(element("dt"), element("dd", "dim", words.same));
    return list;
  }

  return { edit, draw };
}

function line(parts, tag) {
  const node = element("dd");
  node.append(...parts.flatMap(([word, isOther]) => [isOther ? element(tag, "", word) : word, " "]));
  return node;
}

// Two lists of words -> each with what the other lacks marked: by a longest common subsequence.
export function marked(a, b) {
  const longest = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const without = Math.max(longest[i + 1][j], longest[i][j + 1]);
      longest[i][j] = a[i] === b[j] ? longest[i + 1][j + 1] + 1 : without;
    }
  }
  const [gone, came] = [[], []];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    const isSame = i < a.length && j < b.length && a[i] === b[j];
    const isGone = j >= b.length || (i < a.length && longest[i + 1][j] >= longest[i][j + 1]);
    if (isSame || isGone) gone.push([a[i++], !isSame]);
    if (isSame || !isGone) came.push([b[j++], !isSame]);
  }
  return [gone, came];
}
