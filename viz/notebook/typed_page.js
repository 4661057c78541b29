// Pictures in a page of their own whose reader types: the components, and what stands for Streamlit.

import { chosenTheme, fitFrame } from "./frame.js";
import { mounted } from "./mounting.js";

// draws: name -> a component's drawing code. content: { themes, components, pictures, scene }; pictures:
// [{ component, first, answers }, ...]; scene: as viz/live/alive/typing.js takes it. startTyping(line):
// returns its `alive`.
export default function typedPage(draws, { themes, components, pictures, scene }, startTyping) {
  const theme = chosenTheme(Object.keys(themes));
  const { background, text } = themes[theme];
  document.documentElement.style.colorScheme = theme;
  Object.assign(document.body.style, { background, color: text });
  for (const name of ["accent", "dim", "grid"]) document.body.style.setProperty(`--${name}`, themes[theme][name]);
  const hear = (what, value) => Boolean(typed?.hear(what, value));
  const shown = pictures.map(({ component, first, answers }) => {
    const host = document.querySelector(`[data-picture="${component}"]`);
    const content = { ...components[component], answers };
    const show = mounted(draws[component], host, content, () => theme, hear);
    show(first);
    return [component, (data) => show(data ? { data } : first)];
  });
  const by = new Map(shown);
  if (scene.card) by.set("word_card", cardOf());
  const alive = startTyping(document.querySelector(".model"));
  const typed = alive?.(scene, document.querySelector(".sentence"), (name, data) => by.get(name)(data));
  typed?.show();
  fitFrame();

  // Tables that Python has drawn, until an engine draws others in their place.
  function cardOf() {
    Object.assign(scene.card, { theme });
    const [still, host] = [".still", '[data-picture="word_card"]'].map((each) => document.querySelector(each));
    still.append(document.querySelector(`template[data-theme="${theme}"]`).content.cloneNode(true));
    let show = null;
    return (data) => {
      still.hidden = Boolean(data);
      host.hidden = !data;
      show ??= data && mounted(draws.word_card, host, { ...components.word_card, answers: {} }, () => theme);
      if (data) show({ data });
    };
  }
}
