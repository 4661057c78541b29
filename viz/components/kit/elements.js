// Makes an element of what viz/painters/bars_html.py gives: [name, attributes, ...children]. Texts are only
// ever set as text.
export function grow([name, attributes, ...children]) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "style") node.style.cssText = value;
    else node.setAttribute(key, value);
  }
  node.append(...children.map((child) => (typeof child === "string" ? child : grow(child))));
  return node;
}
