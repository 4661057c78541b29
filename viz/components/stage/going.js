// Where a talk is, as the address says, and how it goes on.

const TEXT = "input:not([type=range], [type=radio], [type=checkbox], [type=button]), textarea, select, [contenteditable]";

export function placeInTalk() {
  const said = new URLSearchParams(location.search);
  const role = said.get("role");
  return { role: role === "present" ? null : role, room: said.get("room"), scene: Number(said.get("scene") ?? 1) };
}

// Whether a text is typed where this event begins.
export function isTyped(event) {
  const [node] = event.composedPath();
  return Boolean(node?.matches?.(TEXT)); // it may be of the recording, another page
}

// Whether this is a small picture of a scene, which nobody steers.
export function isFrame() {
  return Boolean(window.frameElement?.inert);
}
