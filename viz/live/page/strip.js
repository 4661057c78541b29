// The strip of an experiment: what is changed, what takes it back, and what is written then.

import { element } from "../../components/kit/page.js";
import { joined, listed } from "./address.js";
import { filled } from "./models.js";

// templates: how edits are said, from Python. Returns { edit, undo, redo, draw }: changes(edits) chooses them.
export function createStrip(node, words, templates, choose) {
  const own = { before: [], undone: [] };
  const at = (id) => node.querySelector(`#${id}`);

  // These edits in force, and no others; it can be taken back.
  function edit(now, edits) {
    const next = [...new Set(edits)];
    if (joined(next) === now) return;
    own.before.push(now);
    own.undone = [];
    choose(joined(next) || null);
  }
  function goTo(now, from, to) {
    if (!from.length) return;
    to.push(now);
    choose(from.pop() || null);
  }

  // outcome: { before, after }, the words without the edits and with them; null: not known yet.
  function draw({ edits, tool, tokens, outcome }) {
    const all = listed(edits);
    node.hidden = tool === "look" && !all.length && !own.undone.length;
    at("undo").disabled = !own.before.length;
    at("redo").disabled = !own.undone.length;
    at("undo").onclick = () => goTo(edits, own.before, own.undone);
    at("redo").onclick = () => goTo(edits, own.undone, own.before);
    at("all-off").hidden = !all.length;
    at("all-off").onclick = () => edit(edits, []);
    at("edits").replaceChildren(...all.map((each) => chip(each, tokens, () => edit(edits, all.filter((it) => it !== each)))));
    at("help").textContent = all.length ? "" : own.before.length ? words.unchanged : words.help[tool];
    at("help").hidden = Boolean(all.length);
    at("outcome").replaceChildren(...(all.length && outcome ? [outputs(outcome)] : []));
  }

  function chip(spelled, tokens, remove) {
    const button = element("button", "", `${textOf(spelled, tokens)} ×`);
    button.type = "button";
    button.title = words.take_back;
    button.onclick = remove;
    return button;
  }

  function textOf(spelled, tokens) {
    const [name, place] = spelled.split(":");
    if (name === "hide") return filled(templates.hide, { word: tokens.words[Number(place.split(".").at(-1))] });
    const [kind, layer, head, query, key] = place.split(".");
    const where = templates.heads[`${kind}.${layer}.${head}`] ?? place;
    if (name === "head-off") return filled(templates.off, { where });
    return filled(templates.cut, { where, query: tokens.query(kind, Number(query)), key: tokens.key(kind, Number(key)) });
  }

  function outputs({ before, after }) {
    const list = element("dl");
    const [gone, came] = marked(before, after);
    list.append(element("dt", "", words.without), line(gone, "del"), element("dt", "", words.with), line(came, "ins"));
    if (before.join(" ") === after.join(" ")) list.append(element("dt"), element("dd", "dim", words.same));
    return list;
  }

  return { edit, draw };
}

function line(parts, tag) {
  const node = element("dd");
  node.append(...parts.flatMap(([word, isOther]) => [isOther ? element(tag, "", word) : word, " "]));
  return node;
}

// Two lists of words -> the same with what the other lacks marked: a longest common subsequence.
export function marked(a, b) {
  const n = a.map(() => new Uint16Array(b.length + 1)).concat(new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) n[i][j] = a[i] === b[j] ? n[i + 1][j + 1] + 1 : Math.max(n[i + 1][j], n[i][j + 1]);
  const [gone, came] = [[], []];
  for (let i = 0, j = 0; i < a.length || j < b.length; ) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      gone.push([a[i++], false]);
      came.push([b[j++], false]);
    } else if (j >= b.length || (i < a.length && n[i + 1][j] >= n[i][j + 1])) gone.push([a[i++], true]);
    else came.push([b[j++], true]);
  }
  return [gone, came];
}
