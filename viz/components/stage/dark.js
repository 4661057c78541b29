// Dark or light, against what the system says: Streamlit asks for that again after printing.

const QUERY = "(prefers-color-scheme: dark)";
const ASKED = "headscopeScheme"; // of the window: { isDark, ask }

export function turnDark() {
  makeDark(window, !knownOf(window).isDark);
}

// of: a window, this one or that of a frame.
export function makeDark(of, isDark) {
  knownOf(of).isDark = isDark;
  of.dispatchEvent(new Event("afterprint"));
}

function knownOf(of) {
  return (of[ASKED] ??= begin(of));
}

function begin(of) {
  const ask = of.matchMedia.bind(of);
  const known = { isDark: ask(QUERY).matches };
  of.matchMedia = (query) => {
    const found = ask(query);
    const isScheme = query.replace(/\s/g, "") === QUERY.replace(/\s/g, "");
    return isScheme ? new Proxy(found, { get: (list, name) => said(known, list, name) }) : found;
  };
  return known;
}

function said(known, found, name) {
  if (name === "matches") return known.isDark;
  const value = found[name];
  return typeof value === "function" ? value.bind(found) : value;
}
