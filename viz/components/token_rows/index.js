// Two lines of tokens. Pointing at one, or moving to it with the arrow keys, announces it.

import { mounted } from "../kit/mounted.js";
import {
  announcePointing,
  announceToken,
  applyPalette,
  element,
  markPointed,
  onToken,
  setPiece,
} from "../kit/page.js";
import { rove } from "../kit/roving.js";
import { unpack } from "../kit/unpack.js";
import { followTyping } from "./typing.js";

// Not a picture: nobody copies it as a figure.
export default mounted("token_rows", create, update);

function create(root) {
  const typing = followTyping();
  announcePointing(root);
  root.onkeydown = (event) => rove(event, [...event.target.parentElement.children], "row");
  root.onfocusin = ({ target }) => announceToken(target.dataset.side, Number(target.dataset.position));
  root.onfocusout = ({ target }) => announceToken(target.dataset.side, null);
  const silence = onToken((token) => markPointed(root, token));
  const dispose = () => {
    silence();
    typing.end();
  };
  return { root, typing, dispose };
}

function update({ root, typing }, { palette, address, payload }) {
  const { header } = unpack(payload);
  typing.listen(address);
  applyPalette(root, palette);
  const sides = ["source", "target"].filter((side) => header[side].length);
  root.replaceChildren(...sides.flatMap((side, i) => row(side, header[side], header.titles[i])));
}

function row(side, tokens, title) {
  const list = element("div", "tokens");
  list.setAttribute("role", "list");
  list.setAttribute("aria-label", `${title}, ${tokens.length} tokens`);
  list.append(...tokens.map((piece, position) => chip(side, piece, position)));
  return [element("div", "side dim", title), list];
}

function chip(side, piece, position) {
  const node = element("span", piece[2] ? "chip begins" : "chip");
  node.setAttribute("role", "listitem");
  Object.assign(node.dataset, { side, position });
  node.tabIndex = position === 0 ? 0 : -1; // one stop a row; arrow keys go on from there
  setPiece(node, piece);
  return node;
}
