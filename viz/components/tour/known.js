// Whether somebody has seen the tour, or closed the line that offers it: kept in this browser.

const NAME = "headscope-tour";
const START = "#tour";

export function isKnown() {
  try {
    return localStorage.getItem(NAME) !== null;
  } catch {
    return true; // where nothing can be kept it would be offered for ever
  }
}

// The page may have a rule for it already: viz/server/waiting.html asks the same before it draws.
export function setKnown() {
  document.documentElement.dataset.tour = "known";
  try {
    localStorage.setItem(NAME, "known");
  } catch {
    // then it is known as long as the page is
  }
}

// Whether the address asks for the tour; it is asked once.
export function takeStart() {
  if (location.hash !== START) return false;
  history.replaceState(history.state, "", location.pathname + location.search);
  return true;
}
