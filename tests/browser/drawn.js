// What is in sight below an element, in components too: its words, its shapes, and how much of each
// canvas is painted. Two browsers that draw the same thing answer the same.
export default function drawn(root) {
  const all = (node) =>
    [...node.children].flatMap((each) => [...(each.shadowRoot ? all(each.shadowRoot) : []), each, ...all(each)]);
  const isSeen = (node) => node.getClientRects().length > 0 && node.checkVisibility({ visibilityProperty: true });
  const nodes = all(root).filter(isSeen);
  const said = nodes.flatMap(({ childNodes, localName }) =>
    localName === "title" ? [] : [...childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE),
  );
  const ink = (canvas) => {
    if (!canvas.width || !canvas.height) return 0;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let painted = 0;
    for (let i = 3; i < data.length; i += 4) painted += data[i] > 0;
    return painted / (data.length / 4);
  };
  return {
    words: said.map(({ data }) => data.trim()).filter(Boolean),
    shapes: nodes.filter((node) => node.matches("path, line, rect, circle, td")).length,
    inks: nodes.filter((node) => node.localName === "canvas").map(ink),
    images: nodes.filter((node) => node.localName === "img").map((image) => image.naturalWidth),
  };
}
