// Where a talk is, as the address says, and how it goes on.

export function placeInTalk() {
  const said = new URLSearchParams(location.search);
  const role = said.get("role");
  return { role: role === "present" ? null : role, room: said.get("room"), scene: Number(said.get("scene") ?? 1) };
}

// Whether this is a small picture of a scene, which nobody steers.
export function isFrame() {
  return Boolean(window.frameElement?.inert);
}
