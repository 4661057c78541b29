// From head to head the lines of a token move: the eye can follow them.

import { mix } from "../kit/motion.js";

const MOST = 600; // lines: more do not fit into a frame, and are exchanged at once

export function canMove(before, after) {
  return Math.max(before.values.length, after.values.length) <= MOST;
}

// Lines on their way from one list to another; share: 0 to 1. A line that both have stays; of the
// others in a row the strongest moves to the strongest; what is left over fades.
export function between(before, after, share) {
  const lines = { rows: [], columns: [], values: [] };
  const [old, young] = [byRow(before), byRow(after)];
  for (const row of new Set([...old.keys(), ...young.keys()])) {
    for (const [from, to] of pairs(old.get(row) ?? [], young.get(row) ?? [])) {
      lines.rows.push(row);
      lines.columns.push(mix((from ?? to).column, (to ?? from).column, share));
      lines.values.push(mix(from?.value ?? 0, to?.value ?? 0, share));
    }
  }
  return lines;
}

function byRow({ rows, columns, values }) {
  const found = new Map();
  rows.forEach((row, i) => {
    if (!found.has(row)) found.set(row, []);
    found.get(row).push({ column: columns[i], value: values[i] });
  });
  for (const lines of found.values()) lines.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
  return found;
}

function pairs(old, young) {
  const staying = young.map((to) => [old.find(({ column }) => column === to.column), to]);
  const found = staying.filter(([from]) => from);
  const leaving = old.filter((line) => !found.some(([from]) => from === line));
  const coming = staying.filter(([from]) => !from).map(([, to]) => to);
  for (let i = 0; i < Math.max(leaving.length, coming.length); i++) found.push([leaving[i], coming[i]]);
  return found;
}
