// One component in a page of its own: what stands for Streamlit there.

import { mounted } from "./mounting.js";

// component: the default export of its module. content: { html, css, themes, first, answers }.
export default function standAlone(component, { html, css, themes, first, answers }) {
  const theme = chosenTheme(Object.keys(themes));
  const { background, text } = themes[theme];
  document.documentElement.style.colorScheme = theme;
  Object.assign(document.body.style, { background, color: text });
  const main = document.querySelector("main");
  const show = mounted(component, main, { html, css, answers }, () => theme);
  show(first);
  fitFrame();
}

// As light or dark as the text around the frame tells; without a frame, as the system is.
function chosenTheme(names) {
  if (names.length === 1) return names[0];
  const frame = window.frameElement; // null where there is none, or none of the same origin
  const colour = frame ? getComputedStyle(frame).color : "";
  if (!colour.startsWith("rgb")) {
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
  return 0.3 * red + 0.6 * green + 0.1 * blue > 128 ? "dark" : "light";
}

// A frame without a height of its own becomes as high as what it shows, and never jumps back.
function fitFrame() {
  const frame = window.frameElement;
  if (!frame?.hasAttribute("data-fits")) return;
  let [width, height] = [0, 0];
  new ResizeObserver(() => {
    const { offsetWidth, offsetHeight } = document.body;
    if (!offsetWidth) return; // not shown yet
    if (offsetWidth !== width) [width, height] = [offsetWidth, 0];
    height = Math.max(height, offsetHeight);
    frame.style.height = `${height}px`;
  }).observe(document.body);
}
