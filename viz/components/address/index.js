// The server writes the address of what is chosen; Back and Forward are told to it. It draws nothing.

import { host } from "../kit/host.js";
import { accepts, hold, tell } from "../kit/sync.js";

export default host("address", create, update);

// page: the one that the server speaks of, of these pages.
function create(root, sync) {
  const bar = { sync, written: 0, place: place(), page: "", pages: [], isUntold: false };
  const listener = () => went(bar);
  window.addEventListener("popstate", listener);
  bar.dispose = () => window.removeEventListener("popstate", listener);
  return bar;
}

function place() {
  return location.pathname + location.search;
}

function went(bar) {
  if (place() === bar.place) return; // only an anchor
  bar.place = place();
  hold(bar.sync, "query", location.search.slice(1));
  bar.isUntold = true;
  tellWhenOpen(bar);
}

// What is told while another page is on its way to be opened would keep Streamlit on the old one.
function tellWhenOpen(bar) {
  if (!bar.isUntold || !isOpen(bar)) return;
  bar.isUntold = false;
  tell(bar.sync, "query", location.search.slice(1));
}

function update(bar, { number, query, is_new_entry, page, pages }) {
  Object.assign(bar, { page, pages });
  tellWhenOpen(bar);
  const isOlder = !accepts(bar.sync, "query", query); // than Back or Forward
  if (isOlder || number === bar.written || !isOpen(bar)) return;
  bar.written = number;
  const address = location.pathname + (query && `?${query}`);
  if (address !== place()) {
    if (is_new_entry) history.pushState({}, "", address);
    else history.replaceState({}, "", address + location.hash);
  }
  bar.place = place();
}

// Whether the page that the server speaks of is the one that the address names.
function isOpen({ page, pages }) {
  const last = location.pathname.split("/").at(-1);
  return last === page || (page === "" && !pages.includes(last));
}
