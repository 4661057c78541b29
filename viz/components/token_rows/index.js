// Two lines of tokens. Pointing at one, or moving to it with the arrow keys, announces it.

const views = new WeakMap();

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".token-rows");
  if (!views.has(root)) views.set(root, create(root));
  const view = views.get(root);
  view.drafts.give(data);
  return () => {
    for (const end of view.ends) end();
    views.delete(root);
  };
}

function create(root) {
  const drafts = withDrafts("token_rows", (bytes) => update(root, typing, openEnvelope(bytes)));
  const typing = followTyping();
  announcePointing(root);
  root.onkeydown = (event) => move(event);
  root.onfocusin = ({ target }) => announceToken(target.dataset.side, Number(target.dataset.position));
  root.onfocusout = ({ target }) => announceToken(target.dataset.side, null);
  const silence = onToken((token) => markPointed(root, token));
  return { drafts, ends: [silence, drafts.end, typing.end] };
}

function update(root, typing, { palette, drafts, payload }) {
  const { header } = unpack(payload);
  typing.listen(drafts);
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
  const node = element("span", "chip");
  node.setAttribute("role", "listitem");
  Object.assign(node.dataset, { side, position });
  node.tabIndex = position === 0 ? 0 : -1; // one stop a row; arrow keys go on from there
  setPiece(node, piece);
  return node;
}

function move(event) {
  const chips = [...event.target.parentElement.children];
  const at = chips.indexOf(event.target);
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: chips.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  if (!chips[to]) return;
  event.target.tabIndex = -1;
  chips[to].tabIndex = 0;
  chips[to].focus();
}
