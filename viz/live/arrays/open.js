// A file of arrays in the place of a model's answer: what a reader dropped, with its tokens, heads and
// notes, and no text but its own.

import { filled, grouped } from "../payloads/numbers.js";
import { openTables } from "../payloads/open.js";
import { spelled } from "../payloads/words.js";
import { bareRecording } from "./bare.js";
import { arraysIn, NotTaken } from "./file.js";
import { savedRecording } from "./saved.js";

// file: a File, or the like of it. tables: of any checkpoint of the page. own: of
// viz/live/bare_arrays.py. Returns { site, answer, facts }: the first two as the payloads take them,
// and what the page lists of a model. Throws NotTaken.
export async function openArrays(file, tables, { kinds, says, token_rows: rows }) {
  const { name, size } = file;
  const taken = { name, endings: says.endings.join(" or "), most: grouped(says.most) };
  const isOurs = says.endings.some((ending) => name.toLowerCase().endsWith(ending));
  if (!isOurs || size > says.most) throw new NotTaken(filled(says.not_taken, taken));
  const arrays = await arraysIn(name, new Uint8Array(await file.arrayBuffer()), says);
  const read = arrays.has(says.header) ? savedRecording : bareRecording;
  const recording = read(name, arrays, says);
  const site = siteOf(recording, openTables(tables), kinds, rows);
  const answer = answerOf(recording, site, says.most_shown);
  const sizes = Object.entries(recording.attentions).map(([kind, { nHeads, layers }]) => {
    return [kind, { title: kinds[kind].title, n_layers: layers.length, n_heads: nHeads }];
  });
  const opens = Object.keys(recording.attentions).at(-1);
  const facts = { name, text: answer.text, kinds: Object.fromEntries(sizes), notes: recording.notes, opens };
  return { site, answer, facts };
}

// The tables of pictures, for these kinds of attention.
function siteOf({ attentions, source }, tables, kinds, rows) {
  const entries = Object.entries(attentions);
  const isGenerator = entries.every(([kind]) => kind === "decoder_self");
  const prompt = isGenerator ? source.length : 0;
  const own = entries.map(([kind, attention]) => [kind, kindOf(kind, attention, kinds[kind], prompt)]);
  return {
    ...tables,
    kinds: Object.fromEntries(own),
    layers: Object.fromEntries(entries.map(([kind, { numbers }]) => [kind, numbers])),
    token_rows: { ...tables.token_rows, ...rows },
  };
}

// As viz/live/tables.py has it of a checkpoint. kind.other, kind.produced: what headers say otherwise
// where keys are not the queries, and where rows wrote.
function kindOf(name, { queries, keys, produced, nHeads, numbers }, kind, prompt) {
  const isSame = JSON.stringify(queries) === JSON.stringify(keys);
  const isProduced = Boolean(produced) && !isSame;
  const over = [isSame ? {} : kind.other, isProduced ? kind.produced : {}];
  const headers = Object.entries(kind.headers).map(([component, header]) => {
    return [component, Object.assign({}, header, ...over.map((each) => each[component]))];
  });
  const { head_grid: grid, head_view: view, head_map: map } = Object.fromEntries(headers);
  const target = { target: isProduced ? 0 : 1 };
  const text = produced && prompt ? { source: 0, target: prompt } : produced ? target : { source: 0 };
  const names = grid.metrics.map((metric) => metric.name);
  return {
    ...kind,
    is_produced: isProduced,
    starts: { rows: text, columns: produced && name === "cross" ? { source: 0 } : text },
    favourites: kind.favourites.filter((each) => names.includes(each)),
    headers: { head_grid: { ...grid, layers: numbers }, head_view: { ...view, n_heads: nHeads }, head_map: map },
  };
}

// As the engine answers a text: nothing was decoded, and nothing changed.
function answerOf({ attentions, source, target }, { words }, most) {
  const layer = (kind, i) => attentions[kind].layers[i];
  return {
    source,
    target,
    attentions,
    read: [],
    steps: [],
    hypotheses: [],
    classes: null,
    words: words.groups(source),
    targetWords: words.groups(target),
    tree: { nodes: [] },
    logProb: 0,
    isEnded: true,
    text: textOf(source.length ? source : lastOf(attentions).keys, words).slice(0, most),
    asked: { prefix: [] },
    weights: (kind, i) => layer(kind, i).weights,
    allowed: (kind, i) => layer(kind, i).open,
  };
}

const lastOf = (attentions) => Object.values(attentions).at(-1);

// The text in the field: `OneText` of transformer/formats/bare_arrays.py.
function textOf(tokens, words) {
  const seen = tokens.filter(({ special }) => !special);
  const whole = spelled(seen).join("").replaceAll("▁", " ").trim();
  const each = words.groups(seen).map((group) => words.bare(group.map((i) => seen[i])));
  return (whole.includes(" ") ? whole : each.join(" ").trim()) || tokens.map(({ piece }) => piece).join(" ") || "-";
}
