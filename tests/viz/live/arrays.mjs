// Opens files of arrays in Node, as the page does. Standard input: { live: the folder of viz/live, tables
// of a checkpoint, own: of viz/live/bare_arrays.py, cases: [{ path, pictures }] }. Standard output: of
// each { facts, payloads: name -> base64 }, or { error }.

import { Blob, Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";

const { live, tables, own, cases } = JSON.parse(await text(process.stdin));
const module = (name) => import(pathToFileURL(`${live}/${name}.js`));
const { openArrays } = await module("arrays/open");
const { NotTaken } = await module("arrays/file");
const { PAYLOADS } = await module("payloads/open");

async function resultOf({ path, pictures }) {
  const file = Object.assign(new Blob([readFileSync(path)]), { name: basename(path) });
  try {
    const { site, answer, facts } = await openArrays(file, tables, own);
    const payloads = Object.entries(pictures).map(([name, of]) => {
      const payload = PAYLOADS[name.split(" ")[0]](site, answer, of);
      return [name, Buffer.from(payload).toString("base64")];
    });
    const kinds = Object.entries(answer.attentions);
    const bytes = ({ weights }) => Buffer.from(weights.buffer, weights.byteOffset, weights.byteLength).toString("base64");
    const weights = kinds.map(([kind, { layers }]) => [kind, layers.map(bytes)]);
    return { facts, payloads: Object.fromEntries(payloads), weights: Object.fromEntries(weights) };
  } catch (error) {
    return { error: error instanceof NotTaken ? error.message : error.stack };
  }
}

const results = [];
for (const each of cases) results.push(await resultOf(each));
process.stdout.write(JSON.stringify(results));
