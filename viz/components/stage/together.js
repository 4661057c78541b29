// Where a window is, and where the talk is that it belongs to. A window that has the presenter's key
// leads, and of several the one that the server hears last; any other window follows, until somebody
// changes something there. Only values: sockets and links are elsewhere.

// sent: how often this window has led; done: how many of those the server is known to have heard.
export function createTogether() {
  return { to: null, over: "", holds: false, isThere: true, seen: null, underway: null, sent: 0, done: 0 };
}

// The server tells where the talk is. Returns { follow } a link to go to, or { tell } what is to be
// said, or neither. isFirst: of a connection.
export function hear(t, { to, over, holds, done }, isFirst) {
  t.holds = holds;
  if (isFirst) {
    const isHeard = t.done === t.sent;
    Object.assign(t, { sent: 0, done: 0 });
    if (holds && (!isHeard || to === null)) return { tell: lead(t, t.to ?? t.seen.here, t.over) };
  } else {
    t.done = done;
    if (done < t.sent) return {}; // from before it heard where this window leads
  }
  Object.assign(t, { to, over });
  if (to === null || isAt(t)) {
    t.isThere = true;
    return {};
  }
  return holds || t.isThere ? { follow: goThere(t, to) } : {};
}

// The server has drawn what this window shows: { here, asked, led }, addresses as stage.py says.
export function see(t, seen) {
  t.seen = seen;
  if (t.underway !== null && seen.asked !== t.underway) return {}; // from before it went there
  t.underway = null;
  if (t.to === null) return {};
  t.isThere = isAt(t);
  return t.holds && !t.isThere ? { tell: lead(t, seen.here, t.over) } : {};
}

// The talk goes to a link from here. Returns what is to be said. over: what hides the wall's scene,
// "blank" or "qr".
export function lead(t, link, over = "") {
  Object.assign(t, { sent: t.sent + 1, to: link, over, isThere: true });
  return { id: t.sent, to: link, over };
}

// The window goes to a link; what was drawn before says nothing of where it is.
export function goThere(t, link) {
  Object.assign(t, { underway: link, isThere: true });
  return link;
}

function isAt({ to, seen, underway }) {
  if (underway !== null) return underway === to;
  return seen !== null && (seen.here === to || (seen.asked === to && seen.here === seen.led));
}
