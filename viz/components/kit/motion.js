// Motion that explains: how one picture becomes the next, in the time of a blink.

export const LASTS = 300; // ms
const FRESH = 3000; // ms after which nobody takes what was left

// step(share): at once with 0, then in each frame up to 1; with 1 alone where no motion is wanted.
// Returns what ends it early.
export function play(step) {
  if (isCalm()) {
    step(1);
    return () => {};
  }
  const start = performance.now();
  let frame = 0;
  const next = (now) => {
    const share = Math.min(1, Math.max(0, now - start) / LASTS);
    if (share < 1) frame = requestAnimationFrame(next);
    step(eased(share));
  };
  next(start);
  return () => cancelAnimationFrame(frame);
}

export function isCalm() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

// Slow at both ends.
export function eased(share) {
  return share * share * (3 - 2 * share);
}

export function mix(a, b, share) {
  return a * (1 - share) + b * share;
}

// What a grid says of a head that is opened: in the window, as each component has its own modules.
export function leave(name, what) {
  (window.headscopeLeft ??= {})[name] = { ...what, since: performance.now() };
}

export function isLeft(name) {
  return Boolean(window.headscopeLeft?.[name]);
}

// Once, and only while it is fresh.
export function takeLeft(name) {
  const what = window.headscopeLeft?.[name];
  if (!what) return null;
  delete window.headscopeLeft[name];
  return performance.now() - what.since < FRESH ? what : null;
}
