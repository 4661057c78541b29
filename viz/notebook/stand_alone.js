// One component in a page of its own: what stands for Streamlit there.

import { chosenTheme, fitFrame } from "./frame.js";
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
