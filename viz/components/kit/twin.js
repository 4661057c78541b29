// Two pictures beside each other, A and B of Compare: one pointer and one scroll. All that is on a
// page speaks of the tokens of A's text; a picture of B translates.
//
// twin: null for a picture that stands alone; else, of B, side -> for each token of A the one of B
// that stands for it, -1 for none. A side that is not there is the same in both.
// A token is { side, position }: position -1 is what a decoder reads before its text begins.

import { announceToken } from "./page.js";

const SIGHT_EVENT = "headscope:sight";

// The token of a row or a column; null where it has none. places: side -> the place of each token.
export function tokenAt(places, place) {
  for (const [side, numbers] of Object.entries(places)) {
    const position = numbers.indexOf(place);
    if (position >= 0) return { side, position };
  }
  return place === 0 && places.target ? { side: "target", position: -1 } : null;
}

// And back; -1: none. The place before a text is there where no token of it has that place.
export function placeIn(places, { side, position }) {
  if (position === null || !places[side]) return -1;
  if (position >= 0) return places[side][position] ?? -1;
  return Object.values(places).some((numbers) => numbers.includes(0)) ? -1 : 0;
}

// A token of this picture as the page names it; null: A has none that stands for it.
function toPage(twin, token) {
  const there = twin?.[token.side];
  if (!there || token.position < 0) return token;
  const position = there.indexOf(token.position);
  return position < 0 ? null : { side: token.side, position };
}

// And back; position null: this picture has none.
function fromPage(twin, token) {
  const there = twin?.[token.side];
  if (!there || token.position === null || token.position < 0) return token;
  const position = there[token.position] ?? -1;
  return { side: token.side, position: position < 0 ? null : position };
}

// What is pointed at in a picture. token: null for nothing; axis: "rows", "columns" or "cell", of
// which `key` is the token of the column.
export function announce(view, token, axis, key = null) {
  const [named, namedKey] = [token, key].map((each) => each && toPage(view.twin, each));
  const isNamed = named && (namedKey || axis !== "cell" || !view.twin);
  const { kind } = view.map.header;
  if (isNamed) announceToken(named.side, named.position, { kind, axis, key: namedKey });
  else if (view.announced) announceToken(view.announced.side, null);
  view.announced = isNamed ? named : null;
}

// Where a token that is pointed at stands here: { rows, columns, isCell }, -1 for none. Of twins of
// one kind of attention it is the same row, column or cell; else wherever the token is.
export function placesOf({ twin, map: { header } }, token) {
  const place = (axis, each) => placeIn(header.sides[axis], fromPage(twin, each));
  const { kind, axis, key } = token;
  const isSame = twin && axis && kind === header.kind;
  const isCell = Boolean(isSame && axis === "cell");
  if (!isCell) {
    const at = (own) => (isSame && axis !== own ? -1 : place(own, token));
    return { rows: at("rows"), columns: at("columns"), isCell };
  }
  const cell = [place("rows", token), key ? place("columns", key) : -1];
  const [rows, columns] = Math.min(...cell) < 0 ? [-1, -1] : cell;
  return { rows, columns, isCell };
}

// The part of a text that is in sight: axis -> its first place, and the place after the last, which
// may be fractions.
export function announceSight(view, sight) {
  if (!view.twin || !view.map) return;
  const named = mapped(sight, (axis, place) => {
    const whole = Math.floor(place);
    const token = tokenAt(view.map.header.sides[axis], whole);
    return token && { ...nearest(token, (each) => toPage(view.twin, each)), share: place - whole };
  });
  window.dispatchEvent(new CustomEvent(SIGHT_EVENT, { detail: { from: view, sight: named } }));
}

// follow(sight): the same words in this picture; one that is not here stands where the one before
// it does. An axis of other tokens is left out. Returns what ends the listening.
export function onSight(view, follow) {
  const heard = ({ detail: { from, sight } }) => {
    if (from === view || !view.twin || !view.map) return;
    const here = mapped(sight, (axis, token) => {
      const places = view.map.header.sides[axis];
      const own = nearest(token, (each) => {
        const found = fromPage(view.twin, each);
        return placeIn(places, found) < 0 ? null : found;
      });
      const place = placeIn(places, own);
      return place < 0 ? null : place + token.share;
    });
    follow(here);
  };
  window.addEventListener(SIGHT_EVENT, heard);
  return () => window.removeEventListener(SIGHT_EVENT, heard);
}

// Axes of which both ends have a counterpart.
function mapped(sight, change) {
  const axes = Object.entries(sight).map(([axis, ends]) => [axis, ends.map((end) => change(axis, end))]);
  return Object.fromEntries(axes.filter(([, ends]) => !ends.includes(null)));
}

function nearest({ side, position }, translate) {
  for (let at = position; at >= 0; at--) {
    const token = translate({ side, position: at });
    if (token) return token;
  }
  return { side, position: -1 };
}
