// The server writes the address of what is chosen; Back and Forward are told to it. Each of these
// has a number: what the server says of the address before it has heard of it is older.

const COUNTER = "headscope:changes"; // one for all components of the window

const bar = { written: 0, told: 0, place: "", tell: null };

export default function ({ data, setTriggerValue }) {
  if (!bar.tell) listen();
  bar.tell = (change) => setTriggerValue("went", change);
  if (data.number < bar.written) Object.assign(bar, { written: 0, told: 0 }); // it began anew
  if (data.number === bar.written || data.heard < bar.told || !isOpen(data)) return;
  bar.written = data.number;
  write(data);
}

function listen() {
  bar.place = place();
  window.addEventListener("popstate", went);
}

function place() {
  return location.pathname + location.search;
}

// Whether the page that the server speaks of is still the one that is open.
function isOpen({ page, pages }) {
  const last = location.pathname.split("/").at(-1);
  return last === page || (page === "" && !pages.includes(last));
}

function write({ query, is_new_entry }) {
  const address = location.pathname + (query && `?${query}`);
  if (address !== place()) {
    if (is_new_entry) history.pushState({}, "", address);
    else history.replaceState({}, "", address + location.hash);
  }
  bar.place = place();
}

function went() {
  if (place() === bar.place) return; // only an anchor, or told already
  bar.place = place();
  window[COUNTER] = bar.told = (window[COUNTER] ?? 0) + 1;
  bar.tell({ n: bar.told, query: location.search.slice(1) });
}
