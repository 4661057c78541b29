// What is chosen, as the address spells it: names and values are the app's, so that a link opens in both.

const HEAD = ["head", "kind", "layer"];

// fields: [name, default, what it belongs to], in the order of an address, as viz/screen.py has them;
// those of which the page knows nothing have `null` as default, and are kept for the app.
// ofText: the kinds of edits that name words of a text. former: the name of a page by one that it had.
export function createScreen({ fields, ofText, former }) {
  const known = new Map(fields.map(([name, usual, about]) => [name, { usual, about: new Set(about) }]));

  // Entries of an address -> { screen, unknown }; screen: name -> text, without defaults.
  function parse(query) {
    const entries = [...new URLSearchParams(query)];
    const isKnown = ([name]) => known.has(name) && known.get(name).usual !== null;
    const screen = Object.fromEntries(entries.filter(isKnown));
    if (Object.hasOwn(former, screen.page)) screen.page = former[screen.page];
    return {
      screen,
      unknown: Object.fromEntries(entries.filter((entry) => !isKnown(entry))),
    };
  }

  function spell(screen) {
    const parts = [...known].filter(([name, { usual }]) => (screen[name] ?? usual) !== usual);
    return parts.map(([name]) => `${name}=${quoted(screen[name])}`).join("&");
  }

  const valueOf = (screen, name) => screen[name] ?? known.get(name).usual;

  // The screen with these choices, without those that belonged to what was chosen before: `choose` in
  // viz/screen.py. A value of null is the default.
  function choose(screen, changes) {
    const next = { ...screen };
    const values = Object.entries(changes);
    const isOther = ([name, value]) => (value ?? known.get(name).usual) !== valueOf(screen, name);
    const changed = values.filter(isOther).map(([name]) => name);
    const isRewritten = changed.includes("edits") && isOn(screen, "edited_b") && isOn(screen, "own_b");
    if (isRewritten) changed.push("own_b"); // B, which writes by itself, writes another text
    for (const [name, { about }] of known) {
      if (changed.some((each) => about.has(each))) delete next[name];
    }
    if (changed.includes("text") && next.edits) {
      const isOfAny = (edit) => !ofText.includes(edit.split(":")[0]);
      next.edits = joined(listed(next.edits).filter(isOfAny));
    }
    for (const [name, value] of values) next[name] = value ?? known.get(name).usual;
    const isToldByB = HEAD.some((name) => changed.includes(`${name}_b`));
    return locked(next, isToldByB && !HEAD.some((name) => changed.includes(name)));
  }

  const isOn = (screen, name) => valueOf(screen, name) === "yes";

  // The same screen; where both pictures of Compare are to show one head, with that head in both.
  function locked(screen, isToldByB) {
    if (!isOn(screen, "same_head")) return screen;
    const pairs = HEAD.map((name) => (isToldByB ? [name, `${name}_b`] : [`${name}_b`, name]));
    const isOne = pairs.every(([to, of]) => valueOf(screen, to) === valueOf(screen, of));
    const follows = pairs.map(([to, of]) => [to, valueOf(screen, of) || null]);
    return isOne ? screen : choose(screen, Object.fromEntries(follows));
  }

  return { parse, spell, choose, valueOf };
}

// Edits as an address lists them: what stands between them is written otherwise within one.
export const listed = (edits) => (edits ? edits.split("/").map(decoded) : []);

export const joined = (edits) => edits.map((each) => each.replaceAll("%", "%25").replaceAll("/", "%2F")).join("/");

// "3,5" -> [3, 5]; "none" is no number.
export const numbers = (text, separator) =>
  text && text !== "none" ? text.split(separator).map(Number) : [];

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a lone per cent sign
  }
}

const quoted = (text) =>
  encodeURIComponent(text.toWellFormed()).replace(/%2C|%2F|%3A/g, decodeURIComponent);

// From a disk a page may change only what follows the hash sign of its address.
const isOfDisk = () => location.protocol === "file:";

export function readAddress() {
  return location.search.slice(1) || location.hash.replace(/^#\??/, "");
}

// What a link of this page has as its address.
export const addressOf = (query) => (isOfDisk() ? `#?${query}` : query && `?${query}`);

// isEntry: Back leads to what was shown before.
export function writeAddress(query, isEntry) {
  const before = readAddress();
  if (query === before) return;
  const address = addressOf(query) || location.pathname;
  history[isEntry ? "pushState" : "replaceState"](null, "", address);
}
