// The server writes the address of what is chosen; Back and Forward are told to it. Each change
// here has a number: what the server says of the address before it has heard of it is older.

const COUNTER = "headscope:changes"; // one for all components of the window

const bar = { written: 0, told: 0, place: null, tell: () => {} };

export default function ({ data, setTriggerValue }) {
  bar.tell = (change) => setTriggerValue("went", change);
  if (!bar.place) start();
  if (data.number < bar.written) Object.assign(bar, { written: 0, told: 0 }); // it began anew
  if (data.number <= bar.written || data.heard < bar.told || !isOpen(data)) return;
  bar.written = data.number;
  write(data);
}

function start() {
  bar.place = place();
  // Before Streamlit hears of it, which would run the whole script.
  window.addEventListener("popstate", went, { capture: true });
}

function place() {
  return { path: location.pathname, query: location.search, hash: location.hash };
}

// Whether the page that the server speaks of is still the one that is open.
function isOpen({ page, pages }) {
  const last = location.pathname.split("/").at(-1);
  return last === page || (page === "" && !pages.includes(last));
}

function write({ query, is_new_entry }) {
  const search = query && `?${query}`;
  if (search !== location.search) {
    const address = location.pathname + search + location.hash;
    if (is_new_entry) history.pushState({}, "", address);
    else history.replaceState({}, "", address);
  }
  bar.place = place();
}

function went(event) {
  const before = bar.place;
  bar.place = place();
  if (bar.place.query === before.query && bar.place.path === before.path) return; // an anchor
  if (bar.place.path === before.path) event.stopImmediatePropagation();
  window[COUNTER] = bar.told = (window[COUNTER] ?? 0) + 1;
  bar.tell({ n: bar.told, query: location.search.slice(1) });
}
