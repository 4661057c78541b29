// Which heads are kept, and in which order they stand.

const MIN_CELL = 40; // px below which the name and the number of a ranked cell no longer fit
const FEW = 20; // so many ranked heads stand five in a row, larger
const FEW_COLUMNS = 5;

// What a view comes to: a metric that this attention lacks counts as none.
// by: the metric that ranks; null when none does, and then all heads are kept.
export function effective(view, metrics) {
  const known = (name, otherwise) => (metrics.some((m) => m.name === name) ? name : otherwise);
  const [show, sort] = [known(view.show, "maps"), known(view.sort, "layer")];
  const by = sort !== "layer" ? sort : show !== "maps" ? show : null;
  return { show, sort, by, top: by === null ? 0 : view.top };
}

// The place of a head among all, layer by layer; a layer may be one map.
export function indexOf(grid, [layer, head]) {
  return layer * grid.thumbnails.shape[1] + Math.min(head, grid.thumbnails.shape[1] - 1);
}

// Indices from the largest value to the smallest; undefined values last; ties in their order.
export function ranking(values) {
  const size = (i) => (Number.isNaN(values[i]) ? -Infinity : values[i]);
  return Array.from(values, (_, i) => i).sort((a, b) => size(b) - size(a) || a - b);
}

// Of ranked heads, as many in a row as there are heads in a layer, or five large ones, if not more.
export function rankedColumns(nShown, nHeads, width, gap) {
  const fitting = Math.floor((width + gap) / (MIN_CELL + gap));
  return Math.max(1, Math.min(fitting, nShown, nShown <= FEW ? FEW_COLUMNS : Math.max(nHeads, FEW_COLUMNS)));
}

// Where a key leads from a place among n that stand `columns` in a row; undefined: nowhere.
// wraps: whether left and right go on in the next row.
export function gridPlaceAfter(key, place, n, columns, wraps) {
  const start = place - (place % columns);
  const end = Math.min(start + columns, n) - 1;
  const [first, last] = wraps ? [0, n - 1] : [start, end];
  const to = {
    ArrowLeft: Math.max(first, place - 1),
    ArrowRight: Math.min(last, place + 1),
    ArrowUp: place - columns,
    ArrowDown: place + columns,
    Home: start,
    End: end,
  }[key];
  return to >= 0 && to < n ? to : undefined;
}
