// Elements, colours, pieces, and the one event by which components tell each other of a token.

export function element(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// A palette's colours as CSS variables: --accent, --dim, ...
export function applyPalette(root, palette) {
  for (const [name, colour] of Object.entries(palette)) {
    if (typeof colour === "string") root.style.setProperty(`--${name}`, colour);
  }
  root.style.setProperty("--ramp", `linear-gradient(to right, ${palette.scale.join(", ")})`);
}

// Pieces are data: they are only ever set as text.
export function setPiece(node, [label, special]) {
  node.replaceChildren();
  // Brackets turn as their sentence runs.
  node.dir = /\p{L}/u.test(label) ? "auto" : "";
  node.classList.toggle("special", Boolean(special));
  const spaced = label.startsWith("▁");
  if (spaced) node.append(element("span", "space", "▁"));
  node.append(spaced ? label.slice(1) : label);
}

// In a row of words a space, and a byte that ends no character, keep their place, unseen.
export function setWordPiece(node, piece) {
  const isSilent = piece[2] === 2 || !piece[0];
  node.classList.toggle("silent", isSilent);
  node.dataset.sign = piece[0] ? "␣" : "…";
  setPiece(node, isSilent ? ["", 0] : piece);
}

const LEFTWARD = /[\p{sc=Hebrew}\p{sc=Arabic}\p{sc=Syriac}\p{sc=Thaana}\p{sc=Nko}\p{sc=Adlam}]/u;

// A row of pieces runs as its sentence does: by the first letter of its words.
export function directionOf(pieces) {
  return runOf(pieces.map(([label, special]) => (special ? "" : label)).join(""));
}

// Elements of pieces in the words that they make, which no line breaks where it has room for one.
// pieces: with a third value where a word begins.
export function inWords(pieces, nodes) {
  const words = [];
  nodes.forEach((node, i) => {
    if (pieces[i][2] || !i) words.push(element("span", "word"));
    words.at(-1).append(node);
  });
  return words;
}

// The direction of a text, as dir="auto" has it.
export function runOf(text) {
  return LEFTWARD.test(text.match(/\p{L}/u)?.[0] ?? "") ? "rtl" : "ltr";
}

// A piece as it is spoken: without the sign of its space.
export function bare([text]) {
  return text.replace(/^▁(?=.)/, "");
}

// As every picture writes a number: four decimals, a real minus sign, and none before zero.
export function decimals(value) {
  const text = value.toFixed(4);
  return Number(text) === 0 ? "0.0000" : text.replace("-", "−");
}

// A title as it stands within a sentence.
export function within(title) {
  return title.charAt(0).toLowerCase() + title.slice(1);
}

// A number of a scale's end.
export function short(value) {
  return String(Number(value.toPrecision(3))).replace("-", "−");
}

const TOKEN_EVENT = "headscope:token";

// position: of the token in its side, "source" or "target"; null when none is pointed at. where: the
// row, column or cell of a picture that is pointed at, as kit/twin.js has it.
export function announceToken(side, position, where = {}) {
  window.dispatchEvent(new CustomEvent(TOKEN_EVENT, { detail: { side, position, ...where } }));
}

// listener({ side, position, ...where }); returns what ends the listening.
export function onToken(listener) {
  const heard = (event) => listener(event.detail);
  window.addEventListener(TOKEN_EVENT, heard);
  return () => window.removeEventListener(TOKEN_EVENT, heard);
}

// Pointing at any element with data-side and data-position within root announces that token.
export function announcePointing(root) {
  root.onpointerover = ({ target }) => {
    const node = target.closest("[data-position]");
    if (node) announceToken(node.dataset.side, Number(node.dataset.position));
  };
  root.onpointerout = ({ target, relatedTarget }) => {
    const node = target.closest("[data-position]");
    if (node && !node.contains(relatedTarget)) announceToken(node.dataset.side, null);
  };
}

// Marks the elements of an announced token, and no others.
export function markPointed(root, { side, position }) {
  for (const node of root.querySelectorAll(".pointed")) node.classList.remove("pointed");
  if (position === null) return;
  const token = `[data-side="${side}"][data-position="${position}"]`;
  for (const node of root.querySelectorAll(token)) node.classList.add("pointed");
}
