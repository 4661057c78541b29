// The controls of a player: buttons, slider, speed, keys, and the clock that plays.

import { element } from "./page.js";
import { hasModifier } from "./roving.js";
import { accepts, endSync, forget, hold, tellLater } from "./sync.js";

const STEP_MS = 1000; // one step at speed 1
const SPEEDS = [0.5, 1, 2, 4];
const ICONS = {
  first: "M3 3h2v10H3zM13 3v10L6 8z",
  previous: "M12 3v10L5 8z",
  play: "M4 2.5v11L13 8z",
  pause: "M4 3h3v10H4zM9 3h3v10H9z",
  next: "M4 3v10l7-5z",
  last: "M11 3h2v10h-2zM3 3v10l7-5z",
};
// Where keys belong to what has the focus.
const SWITCH = "input[type=checkbox]"; // it hears the space bar only
const TYPING = `input:not([type=range], ${SWITCH}), textarea, select, [contenteditable], [role]:not([role=switch])`;

const REST = 300; // ms without a move until the server is told

// show(step) draws, and says what is counted (`sayPlace`). The server is told of the step, under a name, once the user has stopped moving,
// and never while playing.
export function createPlayback(show, sync, name) {
  const bar = element("div", "controls");
  bar.dataset.control = "";
  const slider = element("input", "slider");
  Object.assign(slider, { type: "range", min: 0, step: 1 });
  slider.setAttribute("aria-label", "Step");
  const speed = element("select", "speed");
  speed.setAttribute("aria-label", "Speed");
  speed.append(...SPEEDS.map((n) => new Option(`${n}×`, n, n === 1, n === 1)));
  const place = element("span", "place");
  const playback = { bar, slider, speed, place, show, sync, name, step: 0, n: 0, playing: false };
  const actions = {
    first: ["First step", () => move(playback, 0)],
    previous: ["Previous step", () => move(playback, playback.step - 1)],
    play: ["Play", () => (playback.playing ? pause(playback) : play(playback))],
    next: ["Next step", () => move(playback, playback.step + 1)],
    last: ["Last step", () => move(playback, playback.n - 1)],
  };
  playback.buttons = {};
  for (const [icon, [title, action]] of Object.entries(actions)) {
    const button = element("button", icon);
    button.type = "button";
    button.onclick = action;
    playback.buttons[icon] = button;
    setIcon(button, icon, title);
  }
  slider.oninput = () => move(playback, Number(slider.value));
  bar.append(...Object.values(playback.buttons), slider, place, speed);
  return playback;
}

function setIcon(button, name, title) {
  const space = "http://www.w3.org/2000/svg";
  const icon = document.createElementNS(space, "svg");
  icon.setAttribute("viewBox", "0 0 16 16");
  icon.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", ICONS[name]);
  icon.append(path);
  button.replaceChildren(icon);
  if (name === "play" || name === "pause") button.append(element("span", "", title));
  button.setAttribute("aria-label", title);
}

// The user goes to a step: what plays stops, and the server hears of it after a rest.
export function move(playback, step) {
  pause(playback);
  goTo(playback, step);
  rest(playback);
}

function goTo(playback, step) {
  const { slider, buttons, n } = playback;
  playback.step = Math.min(n - 1, Math.max(0, step));
  slider.max = Math.max(0, n - 1);
  slider.value = playback.step;
  buttons.first.disabled = buttons.previous.disabled = playback.step === 0;
  buttons.next.disabled = buttons.last.disabled = playback.step === n - 1;
  playback.show(playback.step);
}

// text: of the step that is shown, beside the slider; heard: for those who do not see it.
export function sayPlace({ place, slider }, text, heard = text) {
  place.textContent = text;
  slider.setAttribute("aria-valuetext", heard);
}

function rest({ sync, name, step }) {
  tellLater(sync, name, step, REST);
}

// The server's word on n steps and the one to show; other steps than before begin anew, and what
// played when a link was followed stops at the step that it leads to.
export function follow(playback, n, step, isOther) {
  playback.n = n;
  const isLeft = playback.playing && playback.opened !== playback.sync.opened;
  if (isOther || isLeft) {
    playback.step = Math.min(playback.step, n - 1);
    pause(playback);
    forget(playback.sync);
  }
  goTo(playback, accepts(playback.sync, playback.name, step) ? step : playback.step);
}

function play(playback) {
  if (playback.step === playback.n - 1) goTo(playback, 0);
  endSync(playback.sync);
  hold(playback.sync, playback.name, playback.step);
  Object.assign(playback, { playing: true, opened: playback.sync.opened });
  setIcon(playback.buttons.play, "pause", "Pause");
  let since = performance.now();
  const tick = (now) => {
    if (!playback.playing) return;
    if (now - since >= STEP_MS / Number(playback.speed.value)) {
      since = now;
      goTo(playback, playback.step + 1);
      hold(playback.sync, playback.name, playback.step);
      if (playback.step === playback.n - 1) return move(playback, playback.step);
    }
    playback.frame = requestAnimationFrame(tick);
  };
  playback.frame = requestAnimationFrame(tick);
}

export function pause(playback) {
  if (!playback.playing) return;
  playback.playing = false;
  cancelAnimationFrame(playback.frame);
  setIcon(playback.buttons.play, "play", "Play");
  playback.show(playback.step);
  rest(playback);
}

// Keys, when they reach nothing else: the player has the focus, or nothing particular has.
export function onPlayerKey(playback, root, event) {
  const origin = event.composedPath()[0];
  const inside = root.contains(origin);
  if (hasModifier(event) || event.defaultPrevented) return;
  if (!(origin instanceof Element) || origin.closest(TYPING)) return;
  if (!inside && origin.closest("summary, input[type=range], iframe")) return;
  if (event.key === " " && origin.closest(`button, ${SWITCH}`)) return; // presses it
  const actions = {
    ArrowLeft: () => move(playback, playback.step - 1),
    ArrowRight: () => move(playback, playback.step + 1),
    Home: () => move(playback, 0),
    End: () => move(playback, playback.n - 1),
    " ": () => (playback.playing ? pause(playback) : play(playback)),
  };
  if (!actions[event.key]) return;
  event.preventDefault();
  actions[event.key]();
}
