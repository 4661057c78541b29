// What is pinned: rows ("q5") and columns ("k3") of the attention that is shown, as viz/state/focus.py has
// them. sides: { rows, columns }: side -> for each position of the text its row or column; -1: none.

const AXES = [["rows", "q"], ["columns", "k"]];

// All pieces of a word that is pinned: [[side, position], ...].
export function pinnedTokens(pins, sides) {
  return pins.flatMap((pin) =>
    Object.entries(sides[pin[0] === "q" ? "rows" : "columns"]).flatMap(([side, places]) =>
      places.flatMap((place, position) => (place === Number(pin.slice(1)) ? [[side, position]] : [])),
    ),
  );
}

// The row and the column of a token; none: the attention that is shown has it not.
export function pinsOf(sides, side, position) {
  return AXES.flatMap(([axis, letter]) => {
    const place = sides[axis][side]?.[position] ?? -1;
    return place < 0 ? [] : [`${letter}${place}`];
  });
}

// A token of the two lines is pinned, or released: one that is both, as a query unless asKey.
export function pinToken(before, own, asKey) {
  const chosen = asKey ? own.at(-1) : own[0];
  const without = before.filter((each) => !own.includes(each));
  const isHeld = before.includes(chosen) || (!asKey && without.length < before.length);
  return isHeld ? without : [...without, chosen];
}

// The pins of the same tokens in another map, as rows or as columns as far as it can be.
export function moved(pins, from, to) {
  const names = pins.map((pin) => {
    for (const [side, position] of pinnedTokens([pin], from)) {
      const own = pinsOf(to, side, position);
      const isTurned = pin[0] === "k" && !(side in from.rows); // it could not be a query
      const letter = isTurned === (pin[0] === "q") ? "k" : "q";
      const found = own.find((each) => each[0] === letter) ?? own[0];
      if (found) return found;
    }
    return null;
  });
  return [...new Set(names.filter(Boolean))];
}

// The place in the target of the token whose row was pinned last; -1: none is.
export function pinnedTarget(pins, sides) {
  const rows = pins.filter((pin) => pin[0] === "q").map((pin) => Number(pin.slice(1)));
  return rows.length ? (sides.rows.target ?? []).indexOf(rows.at(-1)) : -1;
}
