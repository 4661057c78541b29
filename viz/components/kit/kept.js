// What a browser remembers of its person, as that the tour was seen: a button with data-keeps switches it,
// under this name, and the page's style says what it changes (html[data-...="known"]).
// viz/server/waiting.html sets it before anything is drawn.

const STORED = "headscope-";
const KNOWN = "known";

export function watchKept() {
  window.addEventListener("click", ({ target }) => {
    const button = target.closest?.("button[data-keeps]");
    if (button) keep(button.dataset.keeps, !isKept(button.dataset.keeps));
  });
}

export function isKept(name) {
  return document.documentElement.dataset[name] === KNOWN;
}

export function keep(name, isOn) {
  const { dataset } = document.documentElement;
  if (isOn) dataset[name] = KNOWN;
  else delete dataset[name];
  try {
    if (isOn) localStorage.setItem(STORED + name, KNOWN);
    else localStorage.removeItem(STORED + name);
  } catch {
    // then it is so as long as the page is
  }
}
