// What viz/live/tables.py has of a checkpoint, opened, which every payload is given; and the payloads
// of an answer alone. A new component is one new entry.

import { decodePlayer } from "./decode_player.js";
import { headGrid, headMap, headView } from "./heads.js";
import { searchTree } from "./search_tree.js";
import { tokenRows } from "./token_rows.js";
import { Words } from "./words.js";

// Component -> what packs it: (tables, answer, what is asked of it) -> bytes. cell_steps and word_card
// are packed of more than an answer.
export const PAYLOADS = {
  token_rows: tokenRows,
  head_grid: headGrid,
  head_view: headView,
  head_map: headMap,
  decode_player: decodePlayer,
  search_tree: searchTree,
};

export function openTables(tables) {
  return { ...tables, words: new Words(tables.characters) };
}
