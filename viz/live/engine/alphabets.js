// Tokenizers without rules: a token is a number, or a character. As transformer/tokenizer.py has
// them.

import { plain } from "./tokenizer.js";

// What Python splits at: also four separators that Unicode calls no space.
const SPACES = new RegExp(`[\\p{White_Space}${String.fromCharCode(28, 29, 30, 31)}]+`, "u");

const tokenOf = (id, piece, special = false) => ({ id, piece, special, unknown: false, byte: null });

// The copy task's alphabet: the numbers themselves, 0 being padding and 1 the start.
export function openNumbers(vocab_size) {
  const last = vocab_size - 1;
  return {
    encode(text) {
      const words = text.replaceAll(",", " ").split(SPACES).filter(Boolean);
      for (const word of words) {
        const number = Number(word.slice(0, 9));
        if (/^[0-9]+$/.test(word) && number >= 2 && number <= last) continue;
        const those = `numbers from 2 to ${last}, written with spaces between them`;
        const own = [...word].slice(0, 40).join("");
        throw new Error(`This model copies ${those}; “${own}” is not one of them.`);
      }
      return words.map(Number);
    },
    decode: (ids) => ids.filter((id) => id > 1).join(" "),
    token: (id) => (id < 2 ? tokenOf(id, ["<pad>", "<s>"][id], true) : tokenOf(id, String(id))),
  };
}

// One token per character, 0 being padding. bytes: characters.txt, a Uint8Array.
export function openCharacters(bytes) {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const characters = [...decoder.decode(bytes)];
  const ids = new Map(characters.map((character, i) => [character, i + 1]));
  return {
    encode: (text) =>
      [...plain(text)].map((character) => {
        if (ids.has(character)) return ids.get(character);
        throw new Error(`This model has never seen the character “${character}”: leave it out.`);
      }),
    decode: (all) => all.map((id) => characters[id - 1] ?? "").join(""),
    token: (id) => (id ? tokenOf(id, characters[id - 1]) : tokenOf(0, "<pad>", true)),
  };
}
