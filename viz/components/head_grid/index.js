// All heads at once, of one kind of attention or of several: small pictures or numbers, by layer or
// by rank.

import { host } from "../kit/host.js";
import { applyPalette, element, onToken } from "../kit/page.js";
import { leave } from "../kit/motion.js";
import { aimAt, tryFirst } from "../kit/preview.js";
import { createReading } from "../kit/reading.js";
import { hasModifier, moveStop, takeKey } from "../kit/roving.js";
import { isFew, onRoom } from "../kit/room.js";
import { announceSentence, createSentence } from "../kit/sentence.js";
import { pixelTable } from "../kit/shade.js";
import { showLarge } from "../kit/sight.js";
import { accepts, hold, tell, tellHeld } from "../kit/sync.js";
import { unpack } from "../kit/unpack.js";
import { fillCells, layOut } from "./cells.js";
import { fit } from "./fit.js";
import { illustrate } from "./illustrate.js";
import { editsWith, markEdited, switched } from "./edited.js";
import { gridPlaceAfter, indexOf } from "./order.js";
import { createSection, draw, markToken, read, show } from "./section.js";
import { createToolbar, setToolbar } from "./toolbar.js";
import { describe, explain, keepWhole, nameOf } from "./words.js";

export default host("head_grid", create, update);

function create(root, sync) {
  const grid = { root, sync, sections: [], selected: null, pointed: null, aimed: null };
  grid.toolbar = createToolbar((view) => change(grid, view));
  grid.boards = element("div", "boards");
  grid.sentence = createSentence();
  grid.illustrate = (what, name) => illustrate(grid, what, name);
  grid.numbers = element("div", "named dim");
  grid.legend = element("div", "legend dim");
  grid.reading = createReading();
  root.replaceChildren(
    grid.sentence.node, grid.toolbar.node, grid.boards, grid.numbers, grid.legend,
  );
  const endRoom = onRoom(grid.boards, () => arrange(grid));
  const silence = onToken((token) => {
    grid.pointed = token.position === null ? null : [token.side, token.position];
    markTokens(grid);
  });
  grid.dispose = () => {
    endRoom();
    silence();
    grid.sentence.end();
    announceSentence(null);
  };
  listen(grid);
  return grid;
}

function listen(grid) {
  const { boards } = grid;
  boards.onclick = (event) => choose(grid, event);
  boards.onkeydown = (event) => onKey(grid, event);
  boards.onpointerover = ({ target }) => point(grid, target.closest(".cell"));
  boards.onpointerleave = () => point(grid, null);
  boards.addEventListener("focusin", ({ target }) => turnAim(grid, target.closest(".cell")));
  boards.addEventListener("focusout", () => turnAim(grid, null));
}

function point(grid, cell) {
  describe(grid, cell);
  turnAim(grid, cell);
}

function turnAim(grid, cell) {
  grid.aimed = cell;
  aim(grid);
}

// What a click would give is made before it comes; and after it, what another one there would.
function aim(grid) {
  if (grid.tool !== "heads") return;
  const { aimed } = grid;
  const isHead = aimed?.isConnected && aimed.section.header.lens.per_head;
  aimAt(isHead ? changedBy(grid, switched(grid.off, headOf(grid, aimed))) : null);
}

function update(grid, { nonce, palette, difference, speaks, own_scale, selected, pinned, view, tool, off, edited, edits, payload }) {
  const drawn = `${nonce} ${palette.name} ${own_scale}`;
  const isNew = drawn !== grid.drawn;
  grid.speaks = speaks;
  grid.sentence.node.hidden = !speaks;
  if (isNew) {
    Object.assign(grid, { drawn, nonce, palette, own: own_scale });
    applyPalette(grid.root, palette);
    open(grid, unpack(payload).arrays, difference);
  }
  const isMoved = accepts(grid.sync, "view", view) && !isSame(view, grid.view);
  if (isMoved) grid.view = view;
  if (isNew || isMoved) showAll(grid);
  Object.assign(grid, { pinned, tool, edited, edits });
  if (accepts(grid.sync, "off", off)) grid.off = off;
  markEdited(grid);
  markTokens(grid);
  const isOther = accepts(grid.sync, "open", selected) && !isSame(selected, grid.selected);
  if (isNew || isMoved || isOther) select(grid, isOther ? selected : grid.selected);
  if (grid.aimed && grid.sync.isServer) aim(grid); // a preview knows nothing of the edits
}

// parts: of each kind what pack_head_grid packed.
function open(grid, parts, difference) {
  if (parts.length !== grid.sections.length) {
    grid.sections = parts.map(() => createSection());
    grid.boards.replaceChildren(...grid.sections.map(({ node }) => node));
  }
  grid.boards.classList.toggle("several", parts.length > 1);
  grid.sections.forEach((section, i) => {
    Object.assign(section, { isOnly: parts.length === 1, own: grid.own });
    read(section, unpack(parts[i]));
  });
  for (const section of grid.sections) {
    section.difference = difference;
    const scale = section.header.lens.scale === "signed" ? difference : grid.palette.scale;
    const colours = `${grid.palette.name} ${scale}`;
    if (colours === section.colours) continue;
    Object.assign(section, { colours, scale, palette: grid.palette });
    section.table = pixelTable({ ...grid.palette, scale });
  }
  const metrics = grid.sections.flatMap(({ header }) => header.metrics);
  grid.metrics = [...new Map(metrics.map((metric) => [metric.name, metric])).values()];
}

// The row and column of the token that is pointed at, else of those that are pinned.
function markTokens({ sections, pinned = [], pointed }) {
  for (const section of sections) markToken(section, pointed ? [pointed] : pinned);
}

function isSame(a, b) {
  return JSON.stringify(a) === JSON.stringify(b);
}

// Everything but the selection, as the view wants it.
function showAll(grid) {
  const { metrics, sections, view } = grid;
  grid.shown = setToolbar(grid.toolbar, metrics, view);
  for (const section of sections) show(section, view);
  arrange(grid);
  sections.forEach(fillCells);
  Object.assign(grid.root.dataset, grid.shown);
}

// Into the room that there is, in this order: where the cells stand, how large they are, what they
// show.
function arrange(grid) {
  const { boards, sections, root, nonce } = grid;
  if (!boards.clientWidth || !sections.length) return; // not shown; it is told again
  keepWhole(grid);
  for (const section of sections) layOut(section, boards.clientWidth);
  fit(grid);
  const start = performance.now();
  sections.forEach(draw);
  root.dataset.drawMs = (performance.now() - start).toFixed(1);
  root.dataset.nonce = nonce;
}

// The user chose what is shown. A metric that is not on offer here stays wished for.
function change(grid, chosen) {
  const { show: now, sort, by } = grid.shown;
  grid.view = {
    show: chosen.show === now ? grid.view.show : chosen.show,
    sort: chosen.sort === sort ? grid.view.sort : chosen.sort,
    top: by === null ? grid.view.top : chosen.top,
  };
  showAll(grid);
  select(grid, grid.selected);
  tell(grid.sync, "view", grid.view);
}

// selected: [kind, layer, head]; null: the first head.
function select(grid, selected) {
  const known = selected && grid.sections.find(({ header }) => header.kind === selected[0]);
  const last = cellOpen(grid);
  const before = grid.section;
  grid.section = known ?? grid.sections[0];
  const [layer, head] = known ? selected.slice(1) : [0, 0];
  const { header, thumbnails } = grid.section;
  grid.place = [Math.min(layer, thumbnails.shape[0] - 1), head];
  grid.selected = selected;
  leaveOpened(grid, last);
  for (const section of grid.sections) {
    section.node.classList.toggle("open", section === grid.section);
    const at = section === grid.section ? indexOf(section, grid.place) : -1;
    const stop = section.order.includes(at) ? at : section.order[0];
    for (const cell of section.cells) {
      cell.setAttribute("aria-selected", String(cell.index === at));
      cell.tabIndex = section === grid.section && cell.index === stop ? 0 : -1;
    }
  }
  if (before !== grid.section && isFew()) arrange(grid);
  grid.root.dataset.selected = [header.kind, ...grid.place].join();
  describe(grid, null);
  explain(grid);
}

// The cell of the head that is open.
function cellOpen({ section, place }) {
  return section && section.cells[indexOf(section, place)];
}

// A large map grows out of the cell that is opened, and back into the one that was.
function leaveOpened(grid, last) {
  const now = cellOpen(grid);
  if (!last?.isConnected || last === now) return;
  const [from, back] = [now, last].map((cell) => cell.getBoundingClientRect());
  leave("opened", { name: `${grid.section.header.kind} ${nameOf(now)}`, from, back });
}

function choose(grid, event) {
  const cell = event.target.closest(".cell");
  if (!cell) return;
  const chosen = headOf(grid, cell);
  if (grid.tool === "heads" && cell.section.header.lens.per_head) return switchHead(grid, chosen);
  select(grid, chosen);
  tell(grid.sync, "open", chosen);
  showLarge(event);
}

// A map of a whole layer stands for the head that is open.
function headOf({ place }, { section: { header }, layer, head }) {
  return [header.kind, layer, header.lens.per_head ? head : place[1]];
}

function changedBy(grid, off) {
  return { edits: editsWith(grid.edits, off) };
}

function switchHead(grid, head) {
  grid.off = switched(grid.off, head);
  markEdited(grid);
  hold(grid.sync, "off", grid.off);
  const isDue = () => "off" in grid.sync.own; // the click before may have told of both
  tryFirst(changedBy(grid, grid.off), () => tellHeld(grid.sync), isDue);
}

function onKey(grid, event) {
  const cell = event.target.closest(".cell");
  if (!cell || hasModifier(event)) return;
  if (event.key === "Enter" || event.key === " ") choose(grid, event);
  else if (/^(Arrow|Home$|End$)/.test(event.key)) {
    const to = cellAfter(grid, cell, event.key);
    if (to) moveStop(cell, to);
  } else return;
  takeKey(event);
}

// Up from the first line of a kind and down from its last lead to the kind above and below.
function cellAfter({ sections }, { section, index }, key) {
  const { order, columns, cells, isNamed } = section;
  const place = order.indexOf(index);
  const to = gridPlaceAfter(key, place, order.length, columns, isNamed);
  if (to !== undefined) return cells[order[to]];
  const other = sections[sections.indexOf(section) + { ArrowUp: -1, ArrowDown: 1 }[key]];
  if (!other) return null;
  const last = other.order.length - 1;
  const start = key === "ArrowUp" ? last - (last % other.columns) : 0;
  return other.cells[other.order[Math.min(last, start + (place % columns))]];
}
