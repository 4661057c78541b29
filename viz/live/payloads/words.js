// The words that pieces make, and how a piece reads: transformer/words.py, transformer/refusal.py
// and viz/labels.py do the same. What they know of characters, and the rule of words itself, is
// theirs: viz/live/tables.py hands it over. A token is { id, piece, special, unknown }; one of other
// code's may have { begins, ends, text }, too: how its tokenizer joins pieces, as `Token` has them.

const BEFORE = { id: 0, piece: " a" }; // a word that another piece may continue
const MOST = 12; // characters of a word so far: those at its end, which differ
const MOST_BEFORE = 32; // tokens among which the beginning of a word is looked for
const N_CODES = 0x110000;

export class Words {
  #classes;
  #isHidden;
  #rule;
  #joined;
  #signs;
  #spaces;

  // characters: `characters` of viz/live/tables.py.
  constructor({ classes, hidden, rule, joined, signs, spaces, alone, letter, empty }) {
    this.#classes = expanded(classes.lengths, (run) => classes.values.charCodeAt(run));
    this.#isHidden = expanded(hidden, (run) => run % 2); // the first run is of those that are seen
    this.#rule = new RegExp(rule, "g");
    this.#joined = new RegExp(joined, "gu");
    this.#signs = signs;
    const [before, around] = [`^[${spaces}]+`, `^[${spaces}]+|[${spaces}]+$`];
    this.#spaces = { before: new RegExp(before), around: new RegExp(around, "g") };
    Object.assign(this, { alone, letter, empty });
  }

  // The positions of each word, in order: every position is in one word.
  groups(tokens) {
    let classes = "";
    const added = spelled(tokens);
    const starts = tokens.map((token, i) => {
      const start = classes.length;
      for (const sign of this.#spelled(token, added[i])) classes += this.#classOf(sign);
      return start;
    });
    const begun = new Map(); // where words begin, spaces before them included -> the first of these
    for (const { 0: match, index } of classes.matchAll(this.#rule)) {
      const end = index + match.length - match.trimStart().length;
      for (let at = index; at <= end; at++) begun.set(at, index);
    }
    const groups = [];
    starts.forEach((start, i) => {
      const isAlone = i && [tokens[i - 1], tokens[i]].some(standsAlone);
      const isJoined = i && (tokens[i - 1].ends === false || tokens[i].begins === false);
      const isTold = i && (begins(tokens, i) || begun.get(start) > starts[i - 1]);
      if (!i || isAlone || (isTold && !isJoined)) groups.push([]);
      groups.at(-1).push(i);
    });
    return groups;
  }

  // What a token is to the rule: special ones and numbers stand alone; what is missing is a word.
  #spelled(token, added) {
    if (standsAlone(token)) return this.alone;
    return token.unknown ? this.letter : added;
  }

  #classOf(sign) {
    return String.fromCharCode(this.#classes[sign.codePointAt(0)]);
  }

  // A token for each group; a word needs no mark of the space before it.
  named(tokens, groups, areWords) {
    return groups.map((group) => {
      const members = group.map((i) => tokens[i]);
      const piece = wordPiece(members);
      const bare = areWords ? piece.replace(this.#spaces.before, "") : "";
      return { id: members[0].id, special: members[0].special, piece: bare || piece };
    });
  }

  // A sign for each character that hides or reorders others, but those in `plain`.
  visible(text, plain = " \u2060") {
    const joined = new Set();
    for (const { index, 0: match } of text.matchAll(this.#joined)) {
      for (let i = 0; i < match.length; i++) joined.add(index + i);
    }
    let [result, at] = ["", 0];
    for (const sign of text) {
      result += joined.has(at) || plain.includes(sign) ? sign : this.#sign(sign);
      at += sign.length;
    }
    return result;
  }

  #sign(sign) {
    const code = sign.codePointAt(0);
    if (sign in this.#signs) return this.#signs[sign];
    if (!this.#isHidden[code]) return sign;
    return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  }

  label(token) {
    const byte = byteOf(token);
    const piece = byte !== null && byte < 128 ? String.fromCharCode(byte) : token.piece;
    if (!piece) return this.empty;
    const begins = piece.startsWith(" ") && piece !== " ";
    return (begins ? "▁" : "") + this.visible(begins ? piece.slice(1) : piece, "");
  }

  bareLabel(token) {
    return this.label(token).replace(/^▁/, "") || this.label({ ...token, piece: " " });
  }

  // Without the sign by which its tokenizer joins it to a word, as "lo@@" has it.
  #unmarkedLabel(token) {
    return this.bareLabel(token.text ? { ...token, piece: token.text } : token);
  }

  // One word as it reads, whatever pieces make it: without the space that begins it.
  text(tokens) {
    if (tokens.length === 1) return this.#unmarkedLabel(tokens[0]);
    return this.visible(this.bare(tokens)) || tokens.map((token) => this.bareLabel(token)).join("");
  }

  // The same as data: nothing in it is replaced by a sign.
  bare(tokens) {
    return wordPiece(tokens).replace(this.#spaces.around, "");
  }

  // The words of a text by the same rule, without the spaces before them: no piece decides here.
  ofText(text) {
    const signs = [...text];
    const classes = signs.map((sign) => this.#classOf(sign)).join("");
    const words = [...classes.matchAll(this.#rule)].map(({ index, 0: { length } }) => {
      return signs.slice(index, index + length).join("").trim();
    });
    return words.filter(Boolean);
  }

  // Label and whether special, for each token.
  pieces(tokens) {
    return tokens.map((token) => [this.label(token), Number(Boolean(token.special))]);
  }

  // The same, and 1 where a word begins with it; drawn as words: 2 for a space before one, and the
  // last byte of a character has the whole of it.
  piecesOfWords(tokens, asWords) {
    const groups = this.groups(tokens);
    const begins = new Map(groups.map(([first]) => [first, 1]));
    const texts = tokens.map((token) => (asWords ? this.#unmarkedLabel(token) : this.label(token)));
    for (const group of asWords ? groups.filter(({ length }) => length > 1) : []) {
      characters(group.map((i) => tokens[i])).forEach((text, k) => {
        if (byteOf(tokens[group[k]]) !== null) texts[group[k]] = this.visible(text);
      });
      for (const i of group.slice(0, -1)) {
        if (this.#isSomething(tokens[i].piece)) break;
        begins.set(i, 2);
      }
    }
    return tokens.map(({ special }, i) => [texts[i], Number(Boolean(special)), begins.get(i) ?? 0]);
  }

  isSpace(sign) {
    return sign !== "" && !this.#isSomething(sign);
  }

  #isSomething(piece) {
    return piece.replace(this.#spaces.around, "") !== "";
  }

  // The word that a token would make of those before it, as far as it then stands.
  soFar(before, token) {
    const alone = this.wordLabel(token);
    if (!this.isPart(token)) return alone;
    const tokens = [...before.slice(-MOST_BEFORE), token];
    const group = this.groups(tokens).at(-1);
    const text = this.text(group.map((i) => tokens[i]));
    if (group.length === 1 || text.includes("\ufffd")) return alone; // bytes that end no character
    const signs = [...text];
    return signs.length <= MOST ? text : `…${signs.slice(1 - MOST).join("")}`;
  }

  // Whether it begins no word, whatever stands before it.
  isPart(token) {
    return byteOf(token) !== null || this.wordLabel(token).startsWith("·");
  }

  // The label where words are shown: a piece that begins none has a dot before it.
  wordLabel(token) {
    return this.label(this.worded(token));
  }

  // The token whose label that is.
  worded(token) {
    const text = this.bareLabel(token);
    if (token.special || !token.piece) return token;
    if (!this.#isSomething(token.piece)) return { ...token, piece: " " };
    const continues = this.label(token) === text && this.groups([BEFORE, token]).length === 1;
    return { ...token, piece: continues ? `·${text}` : text };
  }
}

export const single = (tokens) => tokens.map((_, i) => [i]);

// Whether a tokenizer's own marks say that a word begins there.
const begins = (tokens, i) => tokens[i].begins && (tokens[i - 1].ends ?? tokens[i - 1].ends === undefined);

// What each token adds to the text, with the space before it where that is marked.
export function spelled(tokens) {
  return characters(tokens).map((text, i) => (i && begins(tokens, i) ? ` ${text}` : text));
}

// Special tokens, and numbers: their piece is their own id.
const standsAlone = ({ id, piece, special }) => special || piece === String(id);

// The byte of a character that its piece is, as "<0xE2>"; null: it is none.
export function byteOf({ piece, special }) {
  const match = special ? null : /^<0x([0-9A-F]{2})>$/.exec(piece);
  return match && Number.parseInt(match[1], 16);
}

// The pieces of a word joined, bytes as the characters that they spell.
export function wordPiece(tokens) {
  if (tokens.length > 1 || (tokens[0].text ?? null) !== null) return characters(tokens).join("");
  const byte = byteOf(tokens[0]);
  return byte > 32 && byte < 127 ? String.fromCharCode(byte) : tokens[0].piece;
}

// What each token adds to the text; a character's last byte adds the whole of it.
function characters(tokens) {
  const added = [];
  let decoder = null; // of the bytes that follow each other
  const end = () => {
    if (decoder) added[added.length - 1] += decoder.decode(); // a character cut short
    decoder = null;
  };
  for (const token of tokens) {
    const byte = byteOf(token);
    if (byte === null) {
      end();
      added.push(token.text ?? token.piece);
      continue;
    }
    decoder ??= new TextDecoder("utf-8", { ignoreBOM: true });
    added.push(decoder.decode(Uint8Array.of(byte), { stream: true }));
  }
  end();
  return added;
}

// Lengths of runs of code points -> an entry for each of these.
function expanded(lengths, valueOf) {
  const all = new Uint8Array(N_CODES);
  let from = 0;
  lengths.forEach((length, run) => {
    all.fill(valueOf(run), from, from + length);
    from += length;
  });
  return all;
}
