// Asks tasks about sentences in Node, as the worker of a lesson does. Standard input: { live: the
// folder of viz/live, tables, checkpoint: a folder, cases: [{ text, method, of }] }. Standard output:
// of each case { sheets } with what was sealed in them, or { why }, or { error }.

import { readFileSync } from "node:fs";
import process from "node:process";
import { text as whole } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { live, tables, checkpoint, cases } = JSON.parse(await whole(process.stdin));
const module = (name) => import(pathToFileURL(`${live}/${name}.js`));
const { openTables } = await module("payloads/open");
const { answer, openCheckpoint } = await module("engine/answer");
const { ownTasks } = await module("lessons/tasks");
const { unsealed } = await module("lessons/grade");

const site = openTables(tables);
const buffer = (name) => new Uint8Array(readFileSync(`${checkpoint}/${name}`)).buffer;
const engine = openCheckpoint({
  config: JSON.parse(readFileSync(`${checkpoint}/config.json`, "utf-8")),
  files: {
    model: buffer("model.safetensors"),
    tokenizer: buffer("tokenizer.model"),
    kernel: new WebAssembly.Module(readFileSync(`${live}/engine/kernel.wasm`)),
  },
  groups: (tokens) => site.words.groups(tokens),
});

function last(steps) {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

const results = cases.map(({ text, method, of }) => {
  try {
    const found = last(ownTasks({ ...engine, site }, answer(engine, { text, method }), of));
    const opened = (sheet) => ({ ...sheet, sealed: unsealed(sheet.sealed) });
    return found.why ? found : { sheets: found.sheets.map(opened) };
  } catch (error) {
    return { error: error.stack };
  }
});
process.stdout.write(JSON.stringify(results));
