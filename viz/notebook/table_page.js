// Tables in a page of their own, in the colours of what is around it.

import { chosenTheme, fitFrame } from "./frame.js";

// Each theme's tables, with their style, are a template; those that are shown are copied.
export default function showTables() {
  const templates = [...document.querySelectorAll("template[data-theme]")];
  const theme = chosenTheme(templates.map(({ dataset }) => dataset.theme));
  document.documentElement.style.colorScheme = theme;
  const chosen = templates.find(({ dataset }) => dataset.theme === theme);
  document.body.append(chosen.content.cloneNode(true));
  fitFrame();
}
