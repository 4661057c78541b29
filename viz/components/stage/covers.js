// What hides the scene on the wall: black, or the audience's link as a QR code.

import { element } from "../kit/page.js";
import { placeInTalk } from "./going.js";

export function createCover(name, onclick) {
  const node = element("div", `cover ${name}`);
  node.popover = "manual";
  node.onclick = onclick;
  return node;
}

// over: "blank", "qr", or "" for nothing; of the presenter's own window nothing is hidden.
export function showCovers(talk, over) {
  talk.over = over;
  const isWall = placeInTalk().role === "stage";
  turnCover(talk.blank, isWall && over === "blank");
  turnCover(talk.invitation, isWall && over === "qr");
}

function turnCover(node, isOpen) {
  if (node.matches(":popover-open") === isOpen) return;
  if (isOpen) node.showPopover();
  else node.hidePopover();
}
