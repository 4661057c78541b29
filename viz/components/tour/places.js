// What the steps of the tour point at: of each, the first that is in sight.

// In the page the last one of these; else the second one, in the component that the first one holds.
// true: the step has other words there (`plain`), as what it speaks of is not to be seen, or is done;
// a name: the words of this name.
const PLACES = {
  sentence: [['[class*="st-key-text"]']],
  head: [[".st-key-grid", '.cell[aria-selected="true"]'], [".st-key-grid"]],
  row: [
    [".st-key-arrows", ".rows .token .piece"],
    [".st-key-map, .st-key-inside", ".sentence", true],
    [".st-key-page", "", true],
  ],
  marked: [[".st-key-tokens", ".chip.parted"], [".st-key-tokens", ".tokens.target .word", true]],
  experiment: [
    ['[data-testid="stApp"]:has(.st-key-experiment-on [kind="primary"]) .st-key-experiment', "", true],
    [".st-key-experiment-on"],
    [".st-key-change-offer", "button:not([hidden])", "offer"], // what a first visit has in its place
    [".more-button", "", "more"],
  ],
  learn: [['[data-testid="stTopNavSection"]'], ['[data-testid="stExpandSidebarButton"]']],
};

// { node, word, words }: what is pointed at, its text, and the name of the words that the step has there.
export function placeOf(name) {
  const places = PLACES[name];
  const all = places.map(([outer, inner]) => (inner ? within(outer, inner) : [...document.querySelectorAll(outer)].at(-1)));
  const at = all.findIndex((node) => node?.checkVisibility());
  if (at < 0) return { node: null, word: "", words: "plain" };
  const [, inner, other = ""] = places[at];
  return { node: all[at], word: inner && !other ? wordOf(all[at]) : "", words: other === true ? "plain" : other };
}

function within(outer, inner) {
  const host = [...(document.querySelector(outer)?.querySelectorAll("*") ?? [])].find((node) => node.shadowRoot);
  return host?.shadowRoot.querySelector(inner);
}

function wordOf(node) {
  return (node.closest(".word") ?? node).textContent.replace(/^▁/, "").trim();
}
