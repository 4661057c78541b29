// What a figure carries, as viz/paper/record.py writes it: one word in any file, `mark` and JSON in
// base64. Nothing else of the file is read.

const WORD = /[A-Za-z0-9_=-]/;
const SHORTEST = 8;
const PAGE = /^[a-z_]{1,40}$/;
const QUERY = /^[\w.~%&=+,:/-]*$/; // as viz/screen.py spells it

export function isFigure(bytes, { mark, longest }) {
  return wordAfter(bytes, mark, longest).length >= SHORTEST;
}

// bytes: of the file. Returns { page, query }: of this app, wherever it is served. Throws an Error
// whose message goes on after the file's name.
export function addressOf(bytes, { mark, longest }) {
  const word = wordAfter(bytes, mark, longest);
  if (word.length < SHORTEST) {
    throw new Error(
      "carries no state of Headscope: it is not one of its figures, or a program that saved it again has dropped what it carried. Open the file that was saved first.",
    );
  }
  let said;
  try {
    const text = atob(word.replaceAll("-", "+").replaceAll("_", "/"));
    said = JSON.parse(new TextDecoder().decode(Uint8Array.from(text, (each) => each.charCodeAt(0))));
  } catch {
    throw damaged();
  }
  const { page, query } = said ?? {};
  const isText = typeof page === "string" && typeof query === "string";
  if (!isText || !PAGE.test(page) || !QUERY.test(query)) throw damaged();
  return { page: page === "explore" ? "" : page, query };
}

function damaged() {
  return new Error("carries a state that is damaged: save the figure again.");
}

function wordAfter(bytes, mark, longest) {
  const wanted = Array.from(mark, (each) => each.charCodeAt(0));
  for (let at = bytes.indexOf(wanted[0]); at >= 0; at = bytes.indexOf(wanted[0], at + 1)) {
    if (!wanted.every((byte, i) => bytes[at + i] === byte)) continue;
    let word = "";
    for (let i = at + wanted.length; word.length <= longest && i < bytes.length; i++) {
      const character = String.fromCharCode(bytes[i]);
      if (!WORD.test(character)) break;
      word += character;
    }
    const [whole] = /^[^=]*={0,2}/.exec(word);
    return whole.slice(0, whole.length - (whole.length % 4)); // the next byte may look like a part
  }
  return "";
}
