// A whole story in a page of its own: one scene at a time, by the keys of a talk.

import { isInUse, isTyped } from "../components/kit/keyed.js";
import { restPointer } from "../components/kit/resting.js";
import { mounted } from "./mounting.js";

const STEPS = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, " ": 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };
const CLICKER = ["PageDown", "PageUp"]; // nothing on a page is moved by them

// draws: name -> a component's drawing code; content: { themes, components, scenes, live }. live: for
// each scene null, or what viz/live/alive/typing.js takes; startTyping(line): what that returns.
export default function story(draws, { themes, components, scenes, live }, startTyping = null) {
  const sections = [...document.querySelectorAll("section")];
  const overview = document.querySelector(".overview");
  const blank = document.querySelector(".blank");
  let theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  let [at, number] = [0, null];
  const shows = scenes.map(() => []);
  const [recorded, line] = [".recorded", ".model"].map((each) => document.querySelector(each));
  const alive = startTyping?.(line) ?? null;
  const fields = scenes.map(() => null); // of scenes whose reader types

  const picture = (i, k) => {
    const drawn = scenes[i][k];
    const host = sections[i].querySelectorAll(".picture")[k];
    host.classList.toggle("asks", drawn.component === "question");
    const content = { ...components[drawn.component], answers: drawn.answers };
    const hear = (what, value) => Boolean(fields[i]?.hear(what, value));
    const show = mounted(draws[drawn.component], host, content, () => theme, hear);
    let given = drawn.first;
    return (data) => {
      if (data !== undefined) given = data ? { data } : drawn.first;
      show(given);
    };
  };

  // The sentence of a scene whose reader types is a field.
  function startField(i) {
    const draw = (name, data) => {
      sections[i].toggleAttribute("data-typed", Boolean(data));
      shows[i][scenes[i].findIndex(({ component }) => component === name)]?.(data);
    };
    return alive(live[i], sections[i].querySelector(".sentence"), draw);
  }

  // The foot says who answers, and why nobody does.
  function sayWho() {
    const isLive = Boolean(live[at]);
    const { why } = sections[at].dataset;
    line.hidden = !isLive;
    recorded.hidden = isLive;
    recorded.textContent = why ? `recorded: ${why}` : "recorded";
    if (alive && isLive) (fields[at] ??= startField(at)).show();
  }

  function paint() {
    const { background, text } = themes[theme];
    document.documentElement.style.colorScheme = theme;
    document.documentElement.dataset.theme = theme; // of charts, which are images
    Object.assign(document.body.style, { background, color: text });
    for (const name of ["accent", "dim", "grid"]) document.body.style.setProperty(`--${name}`, themes[theme][name]);
    // Drawn where it is seen: a hidden one has no width; and what is asked stands before the others.
    const n = "asks" in sections[at].dataset ? 1 : scenes[at].length;
    for (let k = 0; k < n; k++) (shows[at][k] ??= picture(at, k))();
  }

  function go(to) {
    fields[at]?.leave();
    at = Math.min(Math.max(to, 0), sections.length - 1);
    sections.forEach((section, i) => (section.hidden = i !== at));
    document.querySelector(".around output").textContent = `${at + 1} / ${sections.length}`;
    history.replaceState(null, "", `#${at + 1}`);
    overview.hidden = blank.hidden = true;
    restPointer();
    paint();
    sayWho();
  }

  const ACTS = {
    Home: () => go(0),
    End: () => go(sections.length - 1),
    ".": () => (blank.hidden = !blank.hidden),
    b: () => (blank.hidden = !blank.hidden),
    o: () => (overview.hidden = !overview.hidden),
    d: () => {
      theme = theme === "dark" ? "light" : "dark";
      paint();
    },
    r: reveal,
    Enter: reveal,
    f: full,
    F5: full,
    g: () => (number = ""),
    Escape: () => (overview.hidden = blank.hidden = true),
  };

  function reveal() {
    window.dispatchEvent(new Event("headscope:reveal")); // viz/components/question hears it
  }

  function full() {
    if (document.fullscreenElement) document.exitFullscreen();
    else document.documentElement.requestFullscreen();
  }

  // Digits after g name a scene; Enter goes there.
  function typed(key) {
    if (number === null) return false;
    if (/^\d$/.test(key)) number += key;
    else {
      if (key === "Enter" && number) go(Number(number) - 1);
      number = null;
    }
    return true;
  }

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (isTyped(event) && !CLICKER.includes(event.key)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const act = key in STEPS ? () => go(at + STEPS[key]) : ACTS[key];
    if (key !== "g" && typed(key)) return;
    if (!act || (key.length > 1 && !CLICKER.includes(key) && isInUse())) return;
    if (key === " " && isInUse()) return;
    event.preventDefault();
    act();
  });
  overview.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) go(Number(button.value));
  });
  document.querySelector(".around .place").onclick = ACTS.o; // a phone has no keys
  document.addEventListener("headscope:revealed", ({ target }) => {
    delete target.closest("section").dataset.asks;
    paint();
  });
  addEventListener("hashchange", () => go(Number(location.hash.slice(1)) - 1));
  go(Number(location.hash.slice(1) || 1) - 1);
}
