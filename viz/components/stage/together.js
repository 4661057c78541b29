// Where a window is, and where the talk is that it belongs to. A window that has the presenter's key
// leads, and of several the one that the server hears last; any other window follows, until somebody
// changes something there. Only values: sockets and links are elsewhere.

// sent: how often this window has led; done: how many of those the server is known to have heard.
// gone: where this window went and what the server has not drawn yet, in that order.
export function createTogether() {
  return { to: null, over: "", holds: false, isThere: true, seen: null, gone: [], sent: 0, done: 0 };
}

// Where the window is about to be, or null where it is there.
export function underway({ gone }) {
  return gone.at(-1) ?? null;
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

// The server has drawn what this window shows: { here, asked, led, opened }, addresses as stage.py
// says. What it draws twice of one `opened` is no answer to where the window went since, although the
// address may be the same: of two keys, there and back, it answers the first one first.
export function see(t, seen) {
  if (seen.opened !== t.seen?.opened) t.gone.splice(0, t.gone.indexOf(seen.asked) + 1);
  t.seen = seen;
  if (t.gone.length || t.to === null) return {};
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
  t.gone.push(link);
  t.isThere = true;
  return link;
}

// The server never drew where the window went last: what it shows now counts.
export function giveUp(t) {
  t.gone = [];
}

function isAt({ to, seen, gone }) {
  if (gone.length) return gone.at(-1) === to;
  return seen !== null && (seen.here === to || (seen.asked === to && seen.here === seen.led));
}
