// What viz/live/tables.py has of a checkpoint, opened: every payload is given it.

import { Words } from "./words.js";

export function openTables(tables) {
  return { ...tables, words: new Words(tables.characters) };
}
