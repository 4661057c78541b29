// On the presenter's window: how long the talk has lasted, the next scene as it will be, and how the
// audience follows.

import { element } from "../kit/page.js";
import { follow, isShown, isTaller } from "../kit/scene.js";
import { shownTheme } from "../kit/theme.js";
import { makeDark } from "./dark.js";
import { fillInvitation } from "./invitation.js";

const WIDE = 1280; // px of the window that the small picture is of
const HIGH = 720;
const START = "headscopeTalkStart"; // of the window
const TALLER = `The next scene is taller than a screen of ${WIDE} × ${HIGH}: shorten its words, or show less.`;
const COVERED = { blank: "The wall is black (b).", qr: "The wall shows the link (q)." };

export function createPresenter(root) {
  const desk = { root, start: begin() };
  desk.elapsed = element("strong", "elapsed");
  desk.now = element("span", "now");
  desk.again = element("button", "again", "From 0:00");
  desk.again.type = "button";
  desk.again.title = "Begin the clock again";
  desk.again.onclick = () => {
    desk.start = window[START] = Date.now();
    tick(desk);
  };
  desk.following = element("span", "following");
  desk.covered = element("p", "covered");
  desk.covered.setAttribute("role", "status");
  desk.title = element("h2");
  desk.frame = element("div", "next");
  desk.page = element("iframe");
  desk.page.title = "The next scene";
  desk.page.inert = true;
  Object.assign(desk.page.style, { width: `${WIDE}px`, height: `${HIGH}px` });
  desk.frame.append(desk.page);
  desk.taller = element("p", "taller");
  desk.taller.setAttribute("role", "status");
  desk.invitation = element("div", "invitation");
  const times = element("div", "times");
  times.append(desk.elapsed, desk.again, desk.following, desk.now);
  root.replaceChildren(times, desk.covered, desk.title, desk.frame, desk.taller, desk.invitation);
  const timer = setInterval(() => tick(desk), 500);
  const observer = new ResizeObserver(() => desk.frame.style.setProperty("--times", desk.frame.clientWidth / WIDE));
  observer.observe(desk.frame);
  tick(desk);
  desk.end = () => {
    clearInterval(timer);
    observer.disconnect();
  };
  return desk;
}

function begin() {
  return (window[START] ??= Date.now());
}

function tick(desk) {
  const seconds = Math.floor((Date.now() - desk.start) / 1000);
  desk.elapsed.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  desk.now.textContent = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  const page = desk.page.contentDocument;
  const [shown, wanted] = [page && shownTheme(page), themeOfWall()];
  if (shown && shown !== wanted) makeDark(page.defaultView, wanted === "dark");
  const isDrawn = desk.number && page && isShown(desk.number, page);
  if (isDrawn) desk.taller.textContent = isTaller(page) ? TALLER : "";
}

// Of the window that has opened this one; of this one where there is no such, or it is another server's.
function themeOfWall() {
  try {
    return (window.opener && shownTheme(window.opener.document)) || shownTheme();
  } catch {
    return shownTheme();
  }
}

// next: the link of the scene of this number, counted from 1; empty after the last one.
export function showNext(desk, { next, number, heading, audience }) {
  desk.title.textContent = next ? `Next: ${heading}` : "This is the last scene.";
  desk.frame.hidden = !next;
  desk.number = next ? number : 0;
  if (desk.shown !== next) desk.taller.textContent = "";
  if (next && desk.shown !== next) go(desk, next);
  desk.shown = next;
  fillInvitation(desk.invitation, audience);
}

// The first scene is loaded; to any other one the page within goes as after a click.
function go({ page, shown }, next) {
  const isThere = shown !== undefined && page.contentDocument?.querySelector(".st-key-scene");
  if (isThere) follow(next, page.contentDocument);
  else page.src = new URL(next, location.href).href;
}

// What the room says: how many follow, and what hides the wall's scene.
export function showRoom(desk, { following, over, why }) {
  desk.following.textContent = why || (following === undefined ? "" : `${following} following`);
  desk.covered.textContent = COVERED[over] ?? "";
}
