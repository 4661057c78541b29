// "How to read this": what a picture's marks mean, below it and out of the way until it is opened.
// On a wall and in a figure, where nobody presses anything, it is open.

import { element } from "./page.js";

export function createReading() {
  const node = element("div", "reading");
  const button = element("button", "how", "How to read this");
  const list = element("ul", "lines");
  Object.assign(button, { type: "button" });
  button.dataset.control = "";
  button.setAttribute("aria-expanded", "false");
  button.onclick = () => {
    const isOpen = node.classList.toggle("open");
    button.setAttribute("aria-expanded", String(isOpen));
  };
  node.append(button, list);
  return { node, list };
}

// lines: each a text or nodes; empty ones are left out. uses: those that no wall and no figure has,
// such as what people do.
export function sayReading({ list }, lines, uses = []) {
  const items = [...lines, ...uses].map((line, i) => {
    const item = element("li");
    item.append(...[line].flat());
    if (i >= lines.length) item.dataset.control = "";
    return item;
  });
  list.replaceChildren(...items.filter((item) => item.textContent));
}
