// Dark or light, against what the system says: Streamlit asks for that again after printing.

const QUERY = "(prefers-color-scheme: dark)";
const ASKED = "headscopeScheme"; // of the window: { isDark, ask }

export function turnDark() {
  const known = (window[ASKED] ??= begin());
  known.isDark = !known.isDark;
  window.dispatchEvent(new Event("afterprint"));
}

function begin() {
  const ask = window.matchMedia.bind(window);
  const known = { isDark: ask(QUERY).matches };
  window.matchMedia = (query) => {
    const found = ask(query);
    const isScheme = query.replace(/\s/g, "") === QUERY.replace(/\s/g, "");
    return isScheme ? new Proxy(found, { get: (of, name) => said(known, of, name) }) : found;
  };
  return known;
}

function said(known, found, name) {
  if (name === "matches") return known.isDark;
  const value = found[name];
  return typeof value === "function" ? value.bind(found) : value;
}
