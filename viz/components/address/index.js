// The server writes the address of what is chosen; Back and Forward are told to it. It draws nothing.

import { host } from "../kit/host.js";
import { accepts, hold, tell } from "../kit/sync.js";

const APP = '[data-testid="stApp"]';

export default host("address", create, update);

// There is one address, however often Streamlit mounts what writes it. isGoing: somebody went Back
// or Forward, and the server has not heard of it; isUntold: nor has it been told.
const bar = { sync: null, written: 0, place: "", page: "", pages: [], isGoing: false, isUntold: false };
window.addEventListener("popstate", went, true);
window.addEventListener("click", () => (bar.isGoing = false), true);

// Streamlit, too, writes the page of each run that begins into the address: even of one that
// somebody has left by Back since, who would be thrown forward. Only a click asks for another page.
const push = history.pushState.bind(history);
history.pushState = (...entry) => bar.isGoing || push(...entry);

// Where pages follow upon each other in a moment, Streamlit may mix them up and end ("'setIn' cannot
// be called on an ElementNode"), with nothing left on the screen. The address holds all of it.
window.addEventListener("error", () => {
  if (bar.isGoing) requestAnimationFrame(() => document.querySelector(APP) ?? location.reload());
});

function create(root, sync) {
  bar.place ||= place();
  bar.sync = sync;
  if (bar.isGoing) holdAddress(); // what was told by the one before may be lost
  return { dispose() {} };
}

function place() {
  return location.pathname + location.search;
}

function went() {
  if (!bar.sync || place() === bar.place) return; // only an anchor
  bar.place = place();
  bar.isGoing = true;
  holdAddress();
  tellWhenOpen();
}

function holdAddress() {
  hold(bar.sync, "query", location.search.slice(1));
  bar.isUntold = true;
}

// What is told while another page is on its way to be opened would keep Streamlit on the old one.
function tellWhenOpen() {
  if (!bar.isUntold || !isOpen()) return;
  bar.isUntold = false;
  tell(bar.sync, "query", location.search.slice(1));
}

// page: the one that the server speaks of, of these pages.
function update(_, { number, query, is_new_entry, page, pages }) {
  Object.assign(bar, { page, pages });
  tellWhenOpen();
  const isOlder = !accepts(bar.sync, "query", query); // than Back or Forward
  bar.isGoing &&= isOlder;
  if (isOlder || number === bar.written || !isOpen()) return;
  bar.written = number;
  const address = location.pathname + (query && `?${query}`);
  if (address !== place()) {
    if (is_new_entry) push({}, "", address);
    else history.replaceState({}, "", address + location.hash);
  }
  bar.place = place();
}

// Whether the page that the server speaks of is the one that the address names.
function isOpen() {
  const last = location.pathname.split("/").at(-1);
  return last === bar.page || (bar.page === "" && !bar.pages.includes(last));
}
