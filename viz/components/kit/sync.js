// Who is right, browser or server: each change here has a number, and the server says up to which
// it has heard. Until it has heard of a change, what it says of the same thing is older.
// kit/sync.py is the other half.

const COUNTER = "headscope:changes"; // one for all components of the window

// own: name -> { n, value, opened } of the changes that the server is not known to have heard of.
// opened: the number of the address that is shown: what is changed is not for another one, to which
// a link or Back leads before the server has heard of it.
export function createSync() {
  return { own: {}, served: {}, heard: 0, sent: 0, timer: 0, isServer: false, post: () => {} };
}

// Something was changed here, and stays so whatever the server says before it has heard of it.
export function hold(sync, name, value) {
  window[COUNTER] = (window[COUNTER] ?? 0) + 1;
  sync.own[name] = { n: window[COUNTER], value, opened: sync.opened };
}

export function tell(sync, name, value) {
  hold(sync, name, value);
  send(sync);
}

// What is held and was not told yet.
export function tellHeld(sync) {
  if (Object.values(sync.own).some(({ n }) => n > sync.sent)) send(sync);
}

// What is still changing is told once it has rested for so many ms; and not at all if by then it
// is again as the server has it.
export function tellLater(sync, name, value, rest) {
  hold(sync, name, value);
  clearTimeout(sync.timer);
  sync.timer = setTimeout(() => {
    const isKnown = sync.sent <= sync.heard && JSON.stringify(value) === sync.served[name];
    if (isKnown) delete sync.own[name];
    else send(sync);
  }, rest);
}

// Of two messages that come while the server is busy it hears the last only: so each says all that
// has not been heard of.
function send(sync) {
  clearTimeout(sync.timer);
  const news = Object.entries(sync.own).map(([name, change]) => ({ name, ...change }));
  sync.sent = Math.max(...news.map(({ n }) => n));
  sync.post(news);
}

// heard: up to which number the server has heard of this component's changes; null where none
// speaks: in a preview of what is being typed, in a page of its own.
export function listen(sync, heard, opened) {
  sync.isServer = heard !== null;
  if (!sync.isServer) return;
  if (opened !== sync.opened) forget(sync); // they were of the address before
  if (heard < sync.heard) forget(sync); // it began anew, and will never hear of them
  sync.opened = opened;
  sync.heard = heard;
  window[COUNTER] = Math.max(window[COUNTER] ?? 0, heard); // of a page that was loaded anew
  for (const [name, { n }] of Object.entries(sync.own)) if (n <= heard) delete sync.own[name];
}

// Whether the value of this name that came with it is to be taken.
export function accepts(sync, name, value) {
  if (sync.isServer) sync.served[name] = JSON.stringify(value);
  return !(name in sync.own);
}

// Changes that belonged to what is no longer shown.
export function forget(sync) {
  endSync(sync);
  sync.own = {};
}

export function endSync(sync) {
  clearTimeout(sync.timer);
}
