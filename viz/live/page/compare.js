// The page Compare: what B is, both heads, what both write, and how far they are apart.

import { element } from "../../components/kit/page.js";
import { replaced } from "../engine/change.js";
import { joined, listed } from "./address.js";
import { counted, fill, numbered, radios } from "./controls.js";
import { filled } from "./models.js";
import { LARGE } from "./pages.js";
import { secondsOf, turnedTo } from "./second.js";
import { drawTable } from "./tables.js";

const at = (id) => document.getElementById(id);

// page: as in acts.js. put(edits): they are in force, of what is shown on Explore, too.
export function createCompare(page, put) {
  const { models, components } = page;
  const words = page.words.second;
  const own = { numbers: "" };

  // found: of payloads/compare.js, or null; facts: of the answer; coming: what is said until B is here, as
  // besideSays of models.js has it.
  function draw(it, found, facts, coming) {
    choices(it);
    const nEdits = listed(it.made).length;
    const { unchanged, edits } = page.words.growth;
    const isPlain = it.b.of !== "edits";
    const others = isPlain && nEdits ? filled(unchanged, { edits: counted(nEdits, edits) }) : "";
    const says = isPlain || nEdits ? others : words.nothing;
    at("second-sends").hidden = !coming.button;
    at("second-sends").textContent = coming.button;
    at("second-sends").onclick = coming.send;
    const problem = coming.text || (coming.button ? "" : facts?.b?.problem || says);
    at("second-says").hidden = !problem;
    at("second-says").textContent = problem;
    texts(it, facts);
    for (const letter of ["a", "b"]) heading(it, letter);
    at("two-heads").hidden = !found?.heads;
    if (found?.heads) {
      const where = filled(words.where, found.heads);
      const parts = filled(words.two_heads, { ...found.heads, where }).split("**");
      at("two-heads").replaceChildren(...parts.map((text, i) => (i % 2 ? element("b", "", text) : text)));
    }
    const how = howBoth(it, found);
    at("how-both").hidden = !how;
    at("how-both").textContent = how;
    numbers(it, found);
  }

  function choices(it) {
    const { b } = it;
    const [all, chosen] = secondsOf(it, models, words);
    fill("second", all, chosen);
    at("second").onchange = ({ target }) => page.choose(turnedTo(target.value, it), true);
    toggle("same-head", b.of !== "same", b.isLocked, "same_head");
    toggle("own-words", b.of === "edits" && it.model.methods.length, b.isOwn, "own_b");
    const head = `head-off:${b.kind}.${b.layer}.${b.head}`;
    const isOff = listed(it.made).includes(head);
    const name = `${b.model.kinds[b.kind].title} ${nameOf(b)}`;
    at("switch-b").hidden = b.of !== "edits";
    at("switch-b").textContent = filled(words.switch, { name, to: isOff ? "on" : "off" });
    at("switch-b").onclick = () => {
      const others = listed(it.made).filter((each) => each !== head);
      put(joined(isOff ? others : [...others, head]) || null);
    };
    const large = page.words.pictures.filter(([each]) => each !== "inside" && LARGE[each] in components);
    const picture = it.picture === "map" ? "map" : "arrows";
    radios(at("picture-of-both"), large, picture, (value) => page.choose({ picture: value }));
  }

  function toggle(id, isOffered, isOn, name) {
    const [box] = at(id).children;
    at(id).hidden = !isOffered;
    box.checked = isOn;
    box.onchange = () => page.choose({ [name]: box.checked ? "yes" : null }, true);
  }

  // The head of A, or of B, as three choices, and what each is of.
  function heading(it, letter) {
    const of = letter === "a" ? it : it.b;
    const node = document.querySelector(`[data-head="${letter}"]`);
    const end = letter === "a" ? "" : "_b";
    const { kinds } = of.model;
    if (!node.childElementCount) {
      node.append(element("b", "", letter.toUpperCase()));
      for (const each of ["kind", "layer", "head"]) {
        const select = Object.assign(element("select"), { id: `${each}-${letter}` });
        select.setAttribute("aria-label", `${letter.toUpperCase()}: ${page.words[each]}`);
        node.append(select);
      }
      node.append(element("span", "dim"));
    }
    const { n_layers: nLayers, n_heads: nHeads } = kinds[of.kind];
    fill(`kind-${letter}`, Object.entries(kinds).map(([kind, { title }]) => [kind, title]), of.kind);
    fill(`layer-${letter}`, numbered(nLayers, "L"), String(of.layer));
    fill(`head-${letter}`, numbered(nHeads, "H"), String(of.head));
    for (const select of node.querySelectorAll("select")) {
      select.onchange = () => {
        const isKind = select.id.startsWith("kind");
        const [kind, layer, head] = ["kind", "layer", "head"].map((each) => at(`${each}-${letter}`).value);
        const place = { [`kind${end}`]: kind, [`layer${end}`]: layer, [`head${end}`]: head };
        page.choose(isKind ? { [`kind${end}`]: kind } : place, true);
      };
    }
    node.lastChild.textContent = ofWhat(it, letter);
  }

  function ofWhat({ b, model, made }, letter) {
    if (b.of === "checkpoint") return (letter === "a" ? model : b.model).name;
    if (b.of === "method" && letter === "b") {
      return filled(words.by, { method: model.methods.find(([name]) => name === b.request.method)[1].toLowerCase() });
    }
    return b.of === "edits" && letter === "b" ? counted(listed(made).length, page.words.growth.edits) : "";
  }

  // What both write, with what differs.
  function texts({ b, model }, facts) {
    const others = b.of === "same" ? null : facts?.b?.words;
    at("both-texts").hidden = !others;
    if (!others) return;
    const [one, other] = [facts.words, others];
    const places = replaced(one, other);
    const line = (all, side, tag) => {
      const isOther = (i) => places.some((each) => i >= each[side][0] && i < each[side][1]);
      const node = element("dd");
      node.append(...all.flatMap((word, i) => [isOther(i) ? element(tag, "", word) : word, " "]));
      return node;
    };
    const name = (letter, of) => element("dt", "", b.of === "checkpoint" ? `${letter} · ${of.name}` : letter);
    const rows = [name("A", model), line(one, 0, "del"), name("B", b.model), line(other, 1, "ins")];
    if (!places.length) rows.push(element("dt"), element("dd", "dim", words.alike));
    at("both-texts").replaceChildren(...rows);
  }

  function howBoth({ b }, found) {
    if (!found) return "";
    if (!found.whyNot) return b.of === "checkpoint" && b.model.methods.length ? words.forced : "";
    if (b.of === "checkpoint") return words.own;
    if (b.of === "method") return words.by_method;
    return b.of === "edits" && b.isOwn ? words.rewritten : found.whyNot;
  }

  // The metrics of both heads, beside each other.
  function numbers(it, found) {
    const host = document.querySelector('[data-table="numbers"]');
    host.hidden = !found;
    const style = page.style();
    const key = JSON.stringify([found?.numbers, style]);
    if (!found || own.numbers === key) return;
    own.numbers = key;
    const cell = (text) => ["td", {}, text ?? words.not_applying];
    const rows = found.numbers.map(([title, a, b]) => ["tr", {}, ["th", { scope: "row" }, title], cell(a), cell(b)]);
    const above = ["tr", {}, ["td", {}], ["th", { scope: "col" }, "A"], ["th", { scope: "col" }, "B"]];
    const table = ["table", {}, ["thead", {}, above], ["tbody", {}, ...rows]];
    drawTable(host, style, [["div", { class: "tables" }, ["figure", { class: "data list" }, table]]], page);
  }

  return { draw };
}

const nameOf = ({ layer, head }) => `L${layer} H${head}`;
