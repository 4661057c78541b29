// Cells of a map: those under a line that is drawn, and how many they are.

// The places that lie on the way from one to another, without the first: a fast drag leaves some out.
export function between([row, column], [toRow, toColumn]) {
  const n = Math.max(Math.abs(toRow - row), Math.abs(toColumn - column));
  const at = (from, to, i) => Math.round(from + ((to - from) * i) / n);
  return Array.from({ length: n }, (_, i) => [at(row, toRow, i + 1), at(column, toColumn, i + 1)]);
}

export function counted(n, most) {
  return `${n} ${n === 1 ? "cell" : "cells"}${n < most ? "" : ": no question has more"}`;
}
