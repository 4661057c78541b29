// The place of a picture among those of a page, and the picture that stood there before it.

// Milliseconds after which a picture that is gone is nobody's start any more.
const FRESH = 3000;

// Its key, without what is drawn there; null where there are no places, as in a page of its own.
export function placeOf(root) {
  const host = root.getRootNode().host?.closest('[class*="st-key-"]');
  const key = [...(host?.classList ?? [])].find((name) => name.startsWith("st-key-"));
  return key ? `picture${key.slice("st-key-".length).replace(/^[a-z]+/, "")}` : null;
}

// describe(): what the next picture can begin with. Returns { before, leave }: what the picture says
// that has the place, or had it until a moment ago, else null; and what to call when it is gone. In
// the window, as each component has its own modules.
export function takePlace(name, describe) {
  const places = (window.headscopePlaces ??= {});
  // Streamlit may take it away after the next has come.
  const before = places[name]?.describe() ?? null;
  const taken = (places[name] = { describe });
  const leave = () => {
    const [left, since] = [describe(), performance.now()];
    taken.describe = () => (performance.now() - since < FRESH ? left : null);
  };
  return { before, leave };
}
