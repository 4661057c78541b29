// A unigram model of sentencepiece: text -> ids and back, as the library has it (Kudo and
// Richardson 2018). Ids, pieces and texts are those of transformer/tokenizer.py.

const [NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE] = [1, 2, 3, 4, 5, 6]; // types of pieces
const SPACE = "▁";
const BROKEN = "The file tokenizer.model is not a whole sentencepiece model: load it again.";
const PENALTY = 10; // nats below the rarest piece, for a character that is no piece
const VARIANTS = new Map([
  ["’", "'"], ["‘", "'"], ["‚", "'"], ["“", '"'], ["”", '"'], ["„", '"'],
  ["–", "-"], ["—", "-"], ["…", "..."], ["\u00a0", " "], ["\u202f", " "],
]);

// Composed characters, plain quotes and dashes: what training text has. Half a pair is "?".
export function plain(text) {
  return text
    .toWellFormed()
    .replaceAll("\ufffd", (sign, at) => (text[at] === sign ? sign : "?"))
    .normalize("NFC")
    .replace(/[’‘‚“”„–—…\u00a0\u202f]/g, (sign) => VARIANTS.get(sign));
}

// bytes: tokenizer.model, a Uint8Array. Returns { pieces: { text, score, type } by id, ... }.
export function openTokenizer(bytes) {
  const pieces = [];
  let [rules, kind, falls] = [{}, 1, false];
  for (const [field, value] of fields(bytes)) {
    if (field === 1) pieces.push(piece(value));
    if (field === 2) {
      const trainer = new Map(fields(value));
      [kind, falls] = [trainer.get(3) ?? 1, Boolean(trainer.get(35))];
    }
    if (field === 3) rules = normaliser(new Map(fields(value)));
  }
  if (kind !== 1 || pieces.some(({ type }) => type === USER)) {
    const what = "unigram vocabularies without pieces of a user's own";
    throw new Error(`Without a server only ${what} are read: open the checkpoint in the app.`);
  }
  const tokenizer = { pieces, rules, falls, root: new Map(), bytes: [], unknown: null };
  let rarest = Infinity;
  pieces.forEach(({ text, score, type }, id) => {
    if (type === BYTE) tokenizer.bytes[parseInt(text.slice(3, 5), 16)] = id;
    if (type === UNKNOWN) tokenizer.unknown = id;
    if (type === NORMAL) rarest = Math.min(rarest, score);
    if (type !== NORMAL && type !== UNUSED) return;
    let node = tokenizer.root;
    for (const character of text) {
      if (!node.has(character)) node.set(character, new Map());
      node = node.get(character);
    }
    if (type === NORMAL) Object.assign(node, { id, score });
  });
  return { ...tokenizer, least: Math.fround(rarest - PENALTY) };
}

// The token of an id, as transformer/token.py has it: { id, piece, special, unknown, byte }; byte:
// the value of a piece that is one byte, else null.
export function tokenOf({ pieces }, id) {
  const { text, type } = pieces[id];
  const byte = type === BYTE ? parseInt(text.slice(3, 5), 16) : null;
  return { id, piece: text, special: type === CONTROL, unknown: type === UNKNOWN, byte };
}

// Protocol buffers: [number of a field, its value] in order; a text and a message are bytes.
function* fields(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * unit;
      if (!(byte >= 128)) return value; // also behind the end, where there is none
    }
  };
  while (at < bytes.length) {
    const key = varint();
    const [field, type] = [Math.floor(key / 8), key & 7];
    const size = type === 0 ? 0 : type === 2 ? varint() : type === 5 ? 4 : Infinity;
    if (at + size > bytes.length) throw new Error(BROKEN);
    if (type === 0) yield [field, varint()];
    else if (type === 2) yield [field, bytes.subarray(at, at + size)];
    else yield [field, view.getFloat32(at, true)];
    at += size;
  }
}

function piece(bytes) {
  const all = new Map(fields(bytes));
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(all.get(1));
  return { text, score: all.get(2) ?? 0, type: all.get(3) ?? NORMAL };
}

// What a text goes through before it is split: a space is put before it, spaces at its ends and
// doubled ones are left out, they become ▁; and the rules by which characters are replaced.
function normaliser(spec) {
  const rules = { adds: spec.get(3) ?? 1, trims: spec.get(4) ?? 1, escapes: spec.get(5) ?? 1 };
  const map = spec.get(2);
  if (!map?.length) return rules;
  const size = new DataView(map.buffer, map.byteOffset).getUint32(0, true);
  const units = new Uint32Array(map.slice(4, 4 + size).buffer);
  return { ...rules, units, texts: map.subarray(4 + size) };
}

const offset = (unit) => (unit >>> 10) << ((unit & 512) >>> 6);

// The longest rule that a text begins with at a place: [what it becomes, bytes that it takes], or
// null. A double array, as Darts-clone keeps it: each unit holds its label, where its children are
// and whether it ends a rule.
function replaced({ units, texts }, bytes, from) {
  let [node, taken, value] = [offset(units[0]), 0, 0];
  for (let at = from; at < bytes.length; at++) {
    node ^= bytes[at];
    const unit = units[node];
    if ((unit & 0x800000ff) !== bytes[at]) break;
    node ^= offset(unit);
    if (unit & 256) [taken, value] = [at + 1 - from, units[node] & 0x7fffffff];
  }
  return taken ? [texts.subarray(value, texts.indexOf(0, value)), taken] : null;
}

// Characters as the model knows them.
function normalised({ rules }, text) {
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const parts = [];
  let wasSpace = Boolean(rules.trims);
  for (let at = 0; at < bytes.length; ) {
    const rule = rules.units && replaced(rules, bytes, at);
    const size = rule ? rule[1] : sizeOf(bytes[at]);
    let part = decoder.decode(rule ? rule[0] : bytes.subarray(at, at + size));
    at += size;
    if (wasSpace) part = part.replace(/^ +/, "");
    if (part) {
      parts.push(part);
      wasSpace = part.endsWith(" ");
    }
    if (!rules.trims) wasSpace = false;
  }
  let whole = parts.join("");
  if (!whole) return "";
  if (rules.escapes) whole = whole.replaceAll(" ", SPACE);
  if (rules.adds) whole = SPACE + whole;
  return rules.trims ? whole.replace(rules.escapes ? /▁+$/ : / +$/, "") : whole;
}

// The ids of a text, without special tokens: the most probable pieces (Viterbi). Sums are f32, as
// the library's, and of equal ones the first stays.
export function encode(tokenizer, text) {
  const characters = [...normalised(tokenizer, plain(text))];
  const ends = characters.map(() => null);
  const sum = (i) => (i ? ends[i - 1].sum : 0);
  const offer = (from, to, id, score) => {
    const total = score + sum(from);
    if (ends[to - 1] && total <= ends[to - 1].sum) return;
    ends[to - 1] = { from, id, sum: Math.fround(total) };
  };
  for (let from = 0; from < characters.length; from++) {
    let [node, isPiece] = [tokenizer.root, false];
    for (let to = from + 1; to <= characters.length; to++) {
      node = node.get(characters[to - 1]);
      if (!node) break;
      if (node.id === undefined) continue;
      offer(from, to, node.id, node.score);
      isPiece ||= to === from + 1;
    }
    if (!isPiece) offer(from, from + 1, tokenizer.unknown, tokenizer.least);
  }
  const ids = [];
  for (let to = characters.length; to; to = ends[to - 1].from) {
    const { from, id } = ends[to - 1];
    if (id !== tokenizer.unknown || !tokenizer.falls) {
      ids.push(id);
      continue;
    }
    const bytes = [...new TextEncoder().encode(characters[from])];
    ids.push(...bytes.reverse().map((byte) => tokenizer.bytes[byte]));
  }
  return ids.reverse();
}

// The text of ids; special tokens leave no trace, and a byte that spells nothing is one sign.
export function decodeText(tokenizer, ids) {
  const { rules, bytes } = tokenizer;
  let [text, run, hasSpace] = ["", [], false];
  const spellBytes = () => {
    text += spelled(new Uint8Array(run));
    run = [];
  };
  for (const id of ids) {
    const { text: own, type } = tokenizer.pieces[id];
    if (type === CONTROL) continue;
    if (type === BYTE) {
      run.push(bytes.indexOf(id));
      continue;
    }
    spellBytes();
    // The space before the first word stands for no space of the text; where spaces are trimmed,
    // all of those before it.
    const isFirst = !text && !hasSpace && (rules.adds || rules.trims);
    if (isFirst && !rules.trims) hasSpace = own.startsWith(SPACE);
    const part = isFirst ? own.replace(/^▁/, "") : own;
    text += type === UNKNOWN ? " ⁇ " : part.replaceAll(SPACE, " ");
  }
  spellBytes();
  return text;
}

function spelled(bytes) {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const size = sizeOf(bytes[at]);
    try {
      text += decoder.decode(bytes.subarray(at, at + size));
      at += size;
    } catch {
      text += "\ufffd";
      at++;
    }
  }
  return text;
}

// Bytes of a character, by its first.
function sizeOf(byte) {
  return byte < 192 ? 1 : byte < 224 ? 2 : byte < 240 ? 3 : 4;
}

// Tokenizers without rules: a token is a number, or a character. As transformer/tokenizer.py has
// them.

// What Python splits at: also four separators that Unicode calls no space.
const SPACES = new RegExp(`[\\p{White_Space}${String.fromCharCode(28, 29, 30, 31)}]+`, "u");

function plainToken(id, text, special = false) {
  return { id, piece: text, special, unknown: false, byte: null };
}

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
    token: (id) => (id < 2 ? plainToken(id, ["<pad>", "<s>"][id], true) : plainToken(id, String(id))),
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
    token: (id) => (id ? plainToken(id, characters[id - 1]) : plainToken(0, "<pad>", true)),
  };
}
