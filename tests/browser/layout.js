// What is wrong with how a page is laid out, in sentences: [] where nothing is.
export default function faultsOf(least) {
  const faults = new Set();
  const fault = (what, node, more = "") =>
    faults.add(`${what}: ${node.tagName.toLowerCase()} "${textOf(node).slice(0, 40)}" ${more}`);
  const textOf = (node) => (node.value || node.textContent).trim().replace(/\s+/g, " ");
  const seen = { opacityProperty: true, visibilityProperty: true, checkOpacity: true };

  // Every element that can be seen, in components too, and what clips it.
  const all = [];
  const walk = (root, clip) => {
    for (const node of root.children ?? []) {
      const style = getComputedStyle(node);
      const hasBox = style.display !== "contents"; // as what holds a component: seen is what is in it
      if (hasBox && !node.checkVisibility(seen)) continue;
      const box = node.getBoundingClientRect();
      const isClipping = style.overflowX !== "visible" && box.width;
      const inner = isClipping ? meet(clip, box) : clip;
      all.push({ node, style, box, clip });
      if (node.shadowRoot) walk(node.shadowRoot, inner);
      walk(node, inner);
    }
  };
  const meet = (a, b) => ({
    left: Math.max(a.left, b.left), right: Math.min(a.right, b.right),
    top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom),
  });
  const isEmpty = ({ left, right, top, bottom }) => right - left < 3 || bottom - top < 3;
  const main = document.querySelector('[data-testid="stMain"]');
  const header = document.querySelector('[data-testid="stHeader"]');
  const everywhere = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
  walk(main, everywhere);
  walk(header, everywhere);

  for (const node of [main, document.scrollingElement]) {
    if (node.scrollWidth > node.clientWidth) fault("scrolls sideways", node, node.scrollWidth);
  }

  for (const chart of document.querySelectorAll(".stPlotlyChart")) {
    const drawn = chart.querySelector(".main-svg");
    if (!drawn) fault("not drawn yet", chart);
    else if (drawn.getBoundingClientRect().right > innerWidth) fault("cut chart", chart);
  }

  // Charts are enlarged on a stage.
  const timesOf = (node) => {
    const chart = node.closest(".js-plotly-plot");
    const times = chart?.offsetWidth ? chart.getBoundingClientRect().width / chart.offsetWidth : 1;
    return Math.abs(times - 1) < 0.01 ? 1 : times; // offsetWidth is a whole number
  };
  const words = [];
  for (const { node, style, box, clip } of all) {
    const parts = [...node.childNodes].filter((part) => part.nodeType === 3 && part.data.trim());
    if (!parts.length || box.width < 2 || box.height < 2) continue;
    const size = parseFloat(style.fontSize) * timesOf(node);
    if (size < least - 0.05 && !node.closest("sub, sup, .katex")) fault("small", node, `${size} px`);
    for (const part of parts) {
      const range = document.createRange();
      range.selectNodeContents(part);
      const lines = [...range.getClientRects()];
      const text = part.data.trim();
      const isUpright = style.writingMode === "horizontal-tb" && !node.ownerSVGElement;
      if (isUpright && text.length > 3 && lines.length >= text.length - 1) {
        fault("one letter a line", node);
      }
      // Of a chart the letters themselves count: its labels stand closer than lines of text.
      const label = node.closest("text");
      const margin = label ? size / 5 : 0;
      for (const { left, right, top, bottom } of lines) {
        const letters = { left: left + margin, right: right - margin, top: top + margin, bottom: bottom - margin };
        words.push({ node: label ?? node, box: meet(clip, letters) });
      }
    }
  }

  // Labels that lie on each other.
  const shown = words.filter(({ box }) => !isEmpty(box)).sort((a, b) => a.box.top - b.box.top);
  shown.forEach((one, i) => {
    for (const other of shown.slice(i + 1)) {
      if (other.box.top >= one.box.bottom) break;
      const isOver = one.node !== other.node && !isEmpty(meet(one.box, other.box));
      if (isOver) fault("overlap", one.node, `and "${textOf(other.node).slice(0, 40)}"`);
    }
  });

  // Controls: all of each is there, and as wide as its text.
  const CONTROL = "button, select, input, a[href], [role=radio], [role=button], [role=slider]";
  for (const { node, style, box, clip } of all) {
    if (!node.matches(CONTROL) || isEmpty(box) || isEmpty(clip)) continue; // drawn by its label
    const scrolling = `.tokens, .competitors, ${innerWidth < 700 ? ".data" : ".data thead"}`;
    if (clip.right < Infinity && node.closest(scrolling)) continue; // a table of a phone has a shade
    const right = Math.min(clip.right, innerWidth);
    if (box.left < Math.max(0, clip.left) - 1 || box.right > right + 1) {
      fault("cut", node, `${Math.round(box.left)} to ${Math.round(box.right)}`);
    }
    const isShortened = style.textOverflow === "ellipsis" && box.width > 80;
    const isText = node.matches("input[type=text]:not([role])"); // it scrolls while one types
    if (node.scrollWidth > node.clientWidth + 1 && !isShortened && !isText && style.display !== "inline") {
      fault("narrower than its text", node, `${node.clientWidth} of ${node.scrollWidth}`);
    }
  }

  // Words of a table are broken, rather than cut; a column of its own may lie to the side, under the shade.
  for (const { node, box, clip } of all) {
    const isWords = innerWidth >= 700 && node.matches(".data td.text > *");
    const isCut = box.left < clip.right && box.right > clip.right + 1;
    if (isWords && isCut) fault("cut words", node, `${Math.round(box.right)} of ${Math.round(clip.right)}`);
  }
  return [...faults];
}
