// Where the focus goes: the first Tab of a page leads past the header to its picture, and who has
// come by the navigation is on the page, whose keys are heard then.

const NAVIGATION = '[data-testid="stHeader"], [data-testid="stSidebar"]';
const OPEN = '[data-testid="stSidebar"][data-collapsed="false"]';
const CLOSE = '[data-testid="stSidebarCollapseButton"] button';
const LINK = '[data-testid="stSkipToContent"]';
const KEYED = '[class*="st-key-"].stElementContainer'; // of one widget
const LONGEST = 5000; // ms in which a page is drawn that somebody comes back to
const WRITTEN = 15_000; // ms in which its text is written
const ACTS = ["wheel", "touchstart", "keydown", "pointerdown"];
// Whatever is drawn large, and charts; the first one on the page counts.
const PICTURES = ["arrows", "map", "inside", "search-tree", "player", "snapshots"].map((key) => `.st-key-${key}`);
const PICTURE = [...PICTURES, ".stPlotlyChart"].join();
// Where keys move something in it.
const PLACES = ['.stage[tabindex="0"]', '.stage [tabindex="0"]', ".play", '[tabindex="0"], button'];

export function watchFocus() {
  window.addEventListener("focusin", ({ target }) => target.matches?.(LINK) && rename(target));
  window.addEventListener("click", skip, true);
  window.addEventListener("click", ({ target }) => {
    const button = target.closest?.("button");
    if (button) stayAt(button);
  });
  main().tabIndex = -1; // nothing is to be done there; a click and the links still lead to it
}

// Whoever followed a link stands at the top with it: the link is gone, or is one of the new page.
export function beginAtTop() {
  const { activeElement } = document;
  if (activeElement === document.body || activeElement?.closest("a[data-state]")) {
    main().focus({ preventScroll: true });
  }
  main().scrollTop = 0;
}

// What is pressed may be drawn anew: the head of a column by which a table is sorted, a button that is
// on now. Whoever pressed it is there again.
export function stayAt(node) {
  const anew = placeOf(node);
  if (!anew || node.getRootNode().activeElement !== node) return;
  const begun = performance.now();
  const go = () => {
    const isElsewhere = ![node, document.body].includes(document.activeElement);
    if (isElsewhere || performance.now() - begun > LONGEST) return;
    const next = node.isConnected ? null : document.querySelector(anew);
    if (next) next.focus({ preventScroll: true });
    else requestAnimationFrame(go);
  };
  go();
}

// A selector of what stands there later; null: nothing tells it from others.
function placeOf(node) {
  const head = node.closest("thead th");
  if (head) return `.data thead th:nth-child(${head.cellIndex + 1}) a`;
  const key = [...(node.closest(KEYED)?.classList ?? [])].find((name) => name.startsWith("st-key-"));
  return key ? `.${CSS.escape(key)} button` : null;
}

// A link may name the field that it leads into, by the key of its widget. It can be typed into once the
// page's text is written, and is in sight however the page grows above it, until somebody does something.
export function goIntoField() {
  const name = location.hash.slice(1);
  if (!name) return;
  const [begun, away] = [performance.now(), new AbortController()];
  for (const act of ACTS) window.addEventListener(act, () => away.abort(), { capture: true, signal: away.signal });
  const go = () => {
    if (away.signal.aborted) return;
    const field = document.querySelector(`[class*="st-key-${CSS.escape(name)}"] input:enabled`);
    if (field && document.activeElement !== field) field.focus({ preventScroll: true });
    field?.scrollIntoView({ block: "nearest", behavior: "instant" });
    if (performance.now() - begun < WRITTEN) requestAnimationFrame(go);
    else away.abort();
  };
  go();
}

export function scrolledTo() {
  return main().scrollTop;
}

// The page is drawn from its top on: it is as tall as it was after a while, unless somebody scrolls.
export function goOnAt(top) {
  const node = main();
  const begun = performance.now();
  const away = new AbortController();
  for (const name of ACTS) window.addEventListener(name, () => away.abort(), { capture: true, signal: away.signal });
  const go = () => {
    if (away.signal.aborted) return;
    node.scrollTop = top;
    if (performance.now() - begun < LONGEST && node.scrollTop < top - 1) requestAnimationFrame(go);
    else away.abort();
  };
  go();
}

export function main() {
  return document.querySelector('[data-testid="stMain"]');
}

// Streamlit's own text stays where there is no picture.
function rename(link) {
  link.firstChild.data = picture() ? "Skip to the picture" : "Skip to main content";
}

function skip(event) {
  const found = event.target.closest?.(LINK) && picture();
  if (!found) return;
  event.preventDefault();
  event.stopPropagation();
  placeIn(found).focus();
}

function picture() {
  return document.querySelector(PICTURE);
}

function placeIn(found) {
  const root = [...found.querySelectorAll("*")].find((node) => node.shadowRoot)?.shadowRoot;
  for (const place of root ? PLACES : []) {
    const node = root.querySelector(place);
    if (node) return node;
  }
  found.tabIndex = -1;
  return found;
}

// Another page is open, or something that the sidebar opened: Streamlit leaves the focus on the menu,
// which Space would open again; and the sidebar, on a narrow screen, over the page.
export function leaveNavigation() {
  const isThere = document.activeElement?.closest(NAVIGATION);
  if (isCovered()) document.querySelector(CLOSE)?.click();
  if (isThere) main().focus();
}

// Whether the sidebar lies over the page, as on a narrow screen.
export function isCovered() {
  const [over, page] = [document.querySelector(OPEN), main()].map((node) => node?.getBoundingClientRect());
  return over ? over.right > page.left + 1 : false;
}
