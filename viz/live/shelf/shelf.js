// What leads from page to page: links of lists, the menu, and addresses that other pages have.

import { isFinished } from "../lessons/kept.js";

// story -> the path of its page.
export function pageOf(query, places) {
  const entries = new URLSearchParams(query);
  const [story, scene] = [entries.get("story"), entries.get("scene")];
  const place = Object.hasOwn(places, story) ? places[story] : "";
  return place && scene > 1 ? `${place}#${Number(scene)}` : place;
}

// A link to another screen of this page is followed without loading it anew.
export function followLinks(go) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="?"]');
    const isElsewhere = event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (!link || isElsewhere) return;
    event.preventDefault();
    go(link.getAttribute("href").slice(1));
  });
}

// Lessons that are done say so in their list, also when Back leads there.
export function markDone() {
  for (const mark of document.querySelectorAll("[data-done]")) mark.hidden = !isFinished(mark.dataset.done);
}

// The menu of the pages that a first visit need not see; where the window is narrow, of all pages. It
// closes at a choice, at a click elsewhere and at Escape. Returns draw(name): which page is open.
export function createMenu() {
  const menu = document.getElementById("others");
  const summary = menu.querySelector("summary");
  const [wide, narrow] = summary.children;
  const title = wide.textContent;
  const close = () => (menu.open = false);
  document.addEventListener("click", ({ target }) => summary.contains(target) || close());
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    event.preventDefault();
    close();
    summary.focus();
  });
  return (name) => {
    const entries = [...menu.querySelectorAll("button:not([hidden])")];
    const own = entries.find(({ dataset }) => dataset.page === name);
    const isBeside = own.classList.contains("narrow"); // where the window is wide
    menu.classList.toggle("narrow", entries.every((each) => each.classList.contains("narrow")));
    wide.textContent = isBeside ? title : own.textContent;
    narrow.textContent = own.textContent;
    summary.ariaCurrent = isBeside ? null : "page";
  };
}
