// What lies below a spot of the window, in components too, and how far it moves. Of every frame from
// `watch` on is kept how far that which was there at first has moved, and the page with it, and what
// else lay there.
window.spot = (() => {
  const THINGS = [
    ".cell", ".chip", ".token", ".swatch", ".node", ".finish", ".competitor", ".head", ".name", ".entropy", ".field",
    ".bar[data-candidate]", ".drawing", ".plot", ".stage > canvas", ".wires", "button", "select", "a", "summary", "label", "input",
  ].join();
  const DATA = ["token", "side", "position", "head", "place", "candidate", "row", "column"];

  const rootsIn = (root) => [...root.querySelectorAll("*")].flatMap((node) => {
    return node.shadowRoot ? [node.shadowRoot, ...rootsIn(node.shadowRoot)] : [];
  });

  const deepest = (x, y) => {
    let node = document.elementFromPoint(x, y);
    for (let inner = node; inner?.shadowRoot; node = inner) {
      inner = inner.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === node) break;
    }
    return node;
  };

  // The name is what it stands for, not what is said of it: "Cross L2 H3" of "Cross L2 H3: 0.998, off".
  const nameOf = (node) => {
    if (!node) return "nothing";
    const data = DATA.filter((name) => node.dataset[name] !== undefined).map((name) => node.dataset[name]);
    const said = data.length ? data.join() : (node.getAttribute("aria-label") ?? node.textContent).split(/[:,]/)[0];
    const [first = ""] = node.classList;
    const own = first.startsWith("st-") ? "" : first; // those of Streamlit are looks
    return `${node.localName}.${own} ${said.trim().slice(0, 40)}`;
  };

  const thingAt = (x, y) => {
    const node = deepest(x, y);
    return node?.closest(THINGS) ?? node;
  };

  const boxOf = (node) => {
    const { left, top, width, height } = node.getBoundingClientRect();
    return [left, top, width, height];
  };

  const pageTop = () => document.querySelector(".st-key-page")?.getBoundingClientRect().top ?? 0;

  let watching = null;

  const again = ({ root, name }, node) => {
    const from = root?.host?.isConnected || root === document ? [root] : [document, ...rootsIn(document)];
    for (const each of from) {
      const found = [...each.querySelectorAll(node.localName)].find((other) => nameOf(other) === name && other.getClientRects().length);
      if (found) return found;
    }
    return null;
  };

  const look = () => {
    if (!watching) return;
    const { at, name, box } = watching;
    const under = thingAt(...at);
    const node = watching.node.isConnected ? watching.node : again(watching, watching.node);
    if (node) watching.node = node;
    const moved = node ? Math.max(...boxOf(node).map((value, i) => Math.abs(value - box[i]))) : Infinity;
    if (moved > watching.most) Object.assign(watching, { most: moved, now: node && boxOf(node) });
    if (nameOf(under) !== name) watching.others.add(nameOf(under));
    watching.below = Math.max(watching.below, Math.abs(pageTop() - watching.top));
    requestAnimationFrame(look);
  };

  return {
    watch(x, y) {
      const node = thingAt(x, y);
      const [root, name, box] = [node.getRootNode(), nameOf(node), boxOf(node)];
      watching = { at: [x, y], node, root, name, box, most: 0, now: box, others: new Set(), top: pageTop(), below: 0 };
      look();
      return name;
    },
    seen: () => {
      const { name, most, below, box, now, others } = watching;
      return { name, moved: most === Infinity ? -1 : most, below, box, now, others: [...others] };
    },
  };
})();
