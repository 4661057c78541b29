// The server writes the address of what is chosen, unless somebody goes Back. It draws nothing, and
// is on every page: so the focus of a page that opens, its header, its theme and what is read out are looked after here.

import { forgetAhead, hasPart, showAhead } from "./ahead.js";
import { watchKept } from "../kit/kept.js";
import { mounted } from "../kit/mounted.js";
import { hasModifier } from "../kit/roving.js";
import { TYPED } from "../kit/preview.js";
import { tell } from "../kit/sync.js";
import { onTheme, shownTheme } from "../kit/theme.js";
import { beginAtTop, goIntoField, goOnAt, isCovered, leaveNavigation, scrolledTo, stayAt, watchFocus } from "./focus.js";
import { watchHeader } from "./header_line.js";
import { watchOpened } from "./opened.js";
import { setWays, watchPresent } from "./present.js";
import { watchPresses } from "./pressed.js";
import { isNews } from "./theme.js";
import { watchTold } from "./told.js";

const NAME = "Headscope";
const APP = '[data-testid="stApp"]';
const FIELD = 'input[aria-label="Sentence"]';
const LINKS = 'a[data-state], [data-testid="stToast"] a[href^="./"]'; // Streamlit opens others in a tab

// Not a picture: nobody copies it as a figure.
export default mounted("address", create, update);

// There is one address, however often Streamlit mounts what writes it. isGoing: somebody went Back
// or Forward, and the server has not taken it yet; isAsking: and has clicked since. isBack: the last
// that was asked for is Back or Forward, and no link. opened: what is read from its beginning.
// left: address -> how far it was scrolled when it was left. session: the one that spoke last.
const bar = {
  sync: null,
  written: 0,
  entries: 0,
  place: "",
  isGoing: false,
  isAsking: false,
  isBack: false,
  left: new Map(),
};
const theme = { server: "", asked: "" };

function create(root, sync) {
  if (!bar.sync) begin();
  bar.sync = sync;
  return { dispose() {} };
}

function begin() {
  bar.place = place();
  bar.push = history.pushState.bind(history);
  // Streamlit, too, writes the page of each run that begins: even of one that somebody has left by
  // Back since, who would be thrown forward. Only a click asks for another page.
  history.pushState = (...entry) => (bar.isGoing && !bar.isAsking) || bar.push(...entry);
  watchPresses(); // first: it takes back a second click
  window.addEventListener("popstate", went, true);
  window.addEventListener("click", () => Object.assign(bar, { isAsking: true, isBack: false }), true);
  window.addEventListener("click", takeTyped, true);
  window.addEventListener("click", follow);
  window.addEventListener("error", reloadWhenEmpty);
  watchFocus();
  watchHeader();
  watchOpened();
  watchTold();
  watchKept();
  watchPresent();
  onTheme(tellTheme);
}

function tellTheme() {
  const shown = shownTheme();
  if (shown && isNews(theme, shown)) tell(bar.sync, "theme", shown);
}

// The page without a server goes on with what is typed, entered or not.
function takeTyped({ target }) {
  const link = target.closest?.("a[data-typed]");
  const text = document.querySelector(FIELD)?.value.trim();
  if (link?.dataset.tab) link.target = "_blank"; // a talk goes on where it is
  if (!link || !text) return;
  const there = new URL(link.href);
  there.searchParams.set("text", text);
  link.href = there.href;
}

// A link to another state of the app needs no page loaded anew: it is gone to as by Forward.
function follow(event) {
  const link = event.target.closest?.(LINKS);
  if (!link || event.button || hasModifier(event) || event.shiftKey) return;
  event.preventDefault();
  goTo(link);
}

function goTo(link) {
  const { href } = link;
  const go = () => {
    stayAt(link);
    bar.push({}, "", href);
    window.dispatchEvent(new PopStateEvent("popstate"));
  };
  if (hasPart(link)) {
    showAhead(link).then((isLast) => isLast && go());
    return;
  }
  forgetAhead();
  go(); // at once: who follows a link by a script reads the address then
}

// Where pages follow upon each other in a moment, Streamlit may mix them up and end ("'setIn' cannot
// be called on an ElementNode"), with nothing left on the screen. The address holds all of it.
function reloadWhenEmpty() {
  if (bar.isGoing) requestAnimationFrame(() => document.querySelector(APP) ?? location.reload());
}

function place() {
  return location.pathname + location.search;
}

function went({ isTrusted }) {
  if (place() === bar.place) return; // only an anchor
  if (isTrusted) forgetAhead();
  bar.left.set(bar.place, scrolledTo());
  Object.assign(bar, { place: place(), isGoing: true, isAsking: false, isBack: isTrusted });
}

// page: the one that the server speaks of, of these pages. taken: the query that somebody went to
// last, where nothing was chosen since; asked: the one that the browser named in asking for this.
// drawn: the theme that it draws in. part: of a page that holds several, the one that is open.
// title: the page's name, for the tab and the history. ways: see present.js.
function update(_, { session, number, query, n_entries, taken, asked, drawn, page, title, pages, part, ways }) {
  theme.server = drawn;
  tellTheme();
  if (!isOpen(page, pages)) return;
  document.title = page ? `${title} · ${NAME}` : NAME;
  const shown = `${page} ${withoutDraft(query)}`;
  if (page !== (bar.page ?? page) || (shown !== (bar.shown ?? shown) && isCovered())) leaveNavigation();
  Object.assign(bar, { page, shown });
  const here = location.search.slice(1);
  // A server that started anew, or has forgotten the session, reads the address that Streamlit tells
  // it: the one by which the page was opened, or went Back to, last. This one says what was shown.
  const isForgotten = session !== (bar.session ?? session);
  if (isForgotten) Object.assign(bar, { isGoing: asked !== here, isAsking: false, entries: 0 });
  bar.session = session;
  if (bar.isGoing && taken !== here) {
    // Streamlit tells the server of Back and Forward, but for a click that follows at once.
    if (asked === here || isForgotten) tell(bar.sync, "query", here);
    return;
  }
  bar.isGoing = false;
  open(JSON.stringify([page, part]));
  setWays(ways);
  if (number !== bar.written) write(query, n_entries > bar.entries && !isTyped(query));
  Object.assign(bar, { written: number, entries: n_entries });
  bar.place = place();
}

// Whether what is new in it is the text that was entered by itself.
function isTyped(query) {
  const [before, now] = [location.search, query].map((said) => new URLSearchParams(said).get("text"));
  return now !== before && now === window[TYPED];
}

// What is opened by a link or the menu begins at its top; Back and Forward lead to where one was.
function open(opened) {
  if (opened !== (bar.opened ?? opened)) {
    if (bar.isBack) goOnAt(bar.left.get(place()) ?? 0);
    else beginAtTop();
  }
  if (opened !== bar.opened && !bar.isBack) goIntoField();
  if (opened !== bar.opened) bar.isBack = false;
  bar.opened = opened;
}

// What is put into a story stands beside what is shown.
function withoutDraft(query) {
  const parts = new URLSearchParams(query);
  parts.delete("draft");
  return parts;
}

function write(query, isNewEntry) {
  const address = location.pathname + (query && `?${query}`);
  if (address === place()) return;
  if (isNewEntry) bar.push({}, "", address);
  else history.replaceState({}, "", address + location.hash);
}

// Whether the page that the server speaks of is the one that the address names.
function isOpen(page, pages) {
  const last = location.pathname.split("/").at(-1);
  return last === page || (page === "" && !pages.includes(last));
}
