// The page Heads: what a survey that was made before knows of each head. Python made its table and the
// orders of its rows (viz/live/heads.py); here rows are chosen and put in order.

import { element } from "../../components/kit/page.js";
import { fill, radios } from "./controls.js";
import { filled } from "./models.js";
import { drawTable } from "./tables.js";

const at = (id) => document.getElementById(id);

// page: as in acts.js. surveys: name of a checkpoint -> { path } or { element }. changed(): one is here.
export function createHeads(page, surveys, changed) {
  const { words } = page;
  const known = new Map(); // name -> the survey; null: it is on its way; a sentence: it is not there
  let drawn = ""; // which table is drawn, in which colours

  function surveyOf(name) {
    if (known.has(name)) return known.get(name);
    const place = surveys[name];
    if (!place) known.set(name, filled(words.no_survey, { name }));
    else if (place.element) known.set(name, JSON.parse(at(place.element).textContent));
    else load(name, place.path);
    return known.get(name);
  }

  async function load(name, path) {
    known.set(name, null);
    try {
      const answer = await fetch(new URL(path, document.baseURI));
      known.set(name, await answer.json());
    } catch {
      known.set(name, words.survey_failed);
    }
    changed();
  }

  function draw({ model: { name }, listed }) {
    const survey = surveyOf(name);
    const isHere = survey && typeof survey !== "string";
    at("heads-says").textContent = isHere ? survey.says : (survey ?? words.survey_coming);
    for (const node of at("heads-says").parentElement.children) {
      if (node !== at("heads-says")) node.hidden = !isHere;
    }
    if (!isHere) return;
    const table = document.querySelector('[data-table="heads"]');
    const style = page.style();
    const key = JSON.stringify([name, style]);
    if (drawn !== key) {
      drawTable(table, style, survey.table, page);
      at("heads-about").replaceChildren(...survey.about.map((text) => element("p", "", text)));
      drawn = key;
    }
    arrange(table.shadowRoot, survey, listed);
  }

  // Hides what is not listed, in a row or a column, and puts the others in their order.
  function arrange(root, { kinds, orders, rows }, { kind, find, order }) {
    const own = kinds.find((each) => each.name === kind);
    const lacks = own?.lacks ?? [];
    const offered = orders.filter(({ column }) => !lacks.includes(column));
    const by = offered.find((each) => each.name === order) ?? orders[0];
    const sought = find.toLowerCase().split(/\s+/).filter(Boolean);
    const isListed = (each) =>
      (!own || each.kind === kind) && sought.every((word) => each.text.includes(word));
    const body = root.querySelector("tbody");
    const nodes = (body.rowsAsMade ??= [...body.rows]);
    const listed = by.rows.filter((place) => isListed(rows[place]));
    body.replaceChildren(...listed.map((place) => nodes[place]));
    listed.forEach((place, i) => {
      const [row, before] = [rows[place], rows[listed[i - 1]]];
      const isOther = before && (before.kind !== row.kind || before.layer !== row.layer);
      nodes[place].classList.toggle("first", Boolean(by === orders[0] && isOther));
    });
    for (const line of root.querySelectorAll("tr:not(.meanings)")) {
      [...line.cells].forEach((cell, column) => (cell.hidden = lacks.includes(column)));
    }
    [...root.querySelectorAll("thead tr:first-child th")].forEach((head, column) => {
      head.classList.toggle("marked", column === by.column);
    });
    choices(kinds, offered, by, own, find);
    at("heads-count").textContent = filled(words.listed, { n: listed.length, all: rows.length });
    at("heads-explain").textContent = by.says;
  }

  function choices(kinds, offered, by, own, find) {
    const titles = [["", words.all_kinds], ...kinds.map(({ name, title }) => [name, title])];
    radios(at("heads-kind"), titles, own?.name ?? "", (kind) => page.choose({ heads_kind: kind || null }));
    at("heads-kind").hidden = kinds.length < 2;
    fill("heads-order", offered.map(({ name, title }) => [name, title]), by.name);
    at("heads-order").onchange = ({ target }) => page.choose({ heads_order: target.value }, true);
    if (document.activeElement !== at("heads-find")) at("heads-find").value = find;
    at("heads-find").oninput = ({ target }) => page.choose({ heads_find: target.value });
  }

  return { draw };
}
