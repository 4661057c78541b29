// What the steps of the tour point at: of each, the first that is in sight.

// In the page the last one of these; else the second one, in the component that the first one holds.
const PLACES = {
  sentence: [['[class*="st-key-text"]']],
  head: [[".st-key-grid", '.cell[aria-selected="true"]'], [".st-key-grid"]],
  row: [[".st-key-arrows", ".rows .token .piece"], [".st-key-map, .st-key-inside", ".sentence"], [".st-key-page"]],
  marked: [[".st-key-tokens", ".chip.parted"], [".st-key-tokens", ".tokens.target .word"]],
  experiment: [[".st-key-experiment-on"], [".st-key-experiment"]],
  learn: [['[data-testid="stTopNavSection"]'], ['[data-testid="stExpandSidebarButton"]']],
};

// { node, word }: what is pointed at, and the word that it is; word: empty where it is none, or
// where it is not what the step is about.
export function placeOf(name) {
  const all = PLACES[name].map(([outer, inner]) => (inner ? within(outer, inner) : [...document.querySelectorAll(outer)].at(-1)));
  const at = all.findIndex((node) => node?.checkVisibility());
  const node = at < 0 ? null : all[at];
  const isWord = at === 0 && (name === "row" || name === "marked");
  return { node, word: isWord ? wordOf(node) : "" };
}

function within(outer, inner) {
  const host = [...(document.querySelector(outer)?.querySelectorAll("*") ?? [])].find((node) => node.shadowRoot);
  return host?.shadowRoot.querySelector(inner);
}

function wordOf(node) {
  return (node.closest(".word") ?? node).textContent.replace(/^▁/, "").trim();
}
