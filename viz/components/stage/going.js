// Where a talk is, as the address says, and how it goes on.

const TEXT = "input:not([type=range], [type=radio], [type=checkbox], [type=button]), textarea, select, [contenteditable]";

export function placeInTalk() {
  const said = new URLSearchParams(location.search);
  return { role: said.get("role"), scene: Number(said.get("scene") ?? 1) };
}

// As by a click: the address component takes it, and nothing is loaded anew.
export function follow(link) {
  const node = document.createElement("a");
  node.dataset.state = "";
  node.href = link;
  document.body.append(node);
  node.click();
  node.remove();
}

// Whether a text is typed where this event begins.
export function isTyped(event) {
  const [node] = event.composedPath();
  return Boolean(node?.matches?.(TEXT)); // it may be of the recording, another page
}
