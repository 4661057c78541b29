import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

const { accepts, createSync, endSync, forget, hold, listen, tell, tellHeld, tellLater } = await import(
  "../../../../viz/components/kit/sync.js"
);

const HERE = 1; // the number of the address that is shown
let posted = [];
let sync;

function started() {
  const made = createSync();
  made.post = (news) => posted.push(news);
  return made;
}

// The server says a value of a name; whether it is taken.
function served(heard, name, value) {
  listen(sync, heard, HERE);
  return accepts(sync, name, value);
}

beforeEach(() => {
  globalThis.window = {};
  mock.timers.reset();
  posted = [];
  sync = started();
  listen(sync, 0, HERE);
});

test("the server's word is taken until something is changed here, and again once it has heard", () => {
  assert.equal(served(0, "open", "a"), true);
  tell(sync, "open", "b");
  assert.deepEqual(posted, [[{ name: "open", n: 1, value: "b", opened: HERE }]]);
  assert.equal(served(0, "open", "a"), false);
  assert.equal(served(1, "open", "b"), true);
  assert.equal(served(1, "open", "c"), true);
});

test("an answer to the first of two changes takes the second one not back", () => {
  tell(sync, "open", "b");
  tell(sync, "open", "c");
  assert.equal(served(1, "open", "b"), false);
  assert.equal(served(2, "open", "c"), true);
});

test("back and forth: a value that was told before is not taken for the answer to the last", () => {
  for (const value of ["b", "a", "b"]) tell(sync, "open", value);
  assert.equal(served(1, "open", "b"), false);
  assert.equal(served(2, "open", "a"), false);
  assert.equal(served(3, "open", "b"), true);
});

test("one thing that was changed leaves the server right on another", () => {
  tell(sync, "open", "b");
  assert.equal(served(0, "view", "x"), true);
});

test("each message says all that was not heard of", () => {
  tell(sync, "open", "b");
  tell(sync, "view", "x");
  assert.deepEqual(posted.at(-1), [
    { name: "open", n: 1, value: "b", opened: HERE },
    { name: "view", n: 2, value: "x", opened: HERE },
  ]);
  listen(sync, 2, HERE);
  tell(sync, "view", "y");
  assert.deepEqual(posted.at(-1), [{ name: "view", n: 3, value: "y", opened: HERE }]);
});

test("components of one window count together", () => {
  const other = started();
  tell(sync, "open", "a");
  tell(other, "pins", "b");
  tell(sync, "open", "c");
  assert.deepEqual(posted.map((news) => news[0].n), [1, 2, 3]);
});

test("what rests is told once; and what is again as it was, not at all", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  served(0, "step", 4);
  tellLater(sync, "step", 5, 300);
  mock.timers.tick(299);
  tellLater(sync, "step", 6, 300);
  assert.equal(served(0, "step", 4), false); // not told yet, and not taken back
  mock.timers.tick(300);
  assert.deepEqual(posted, [[{ name: "step", n: 2, value: 6, opened: HERE }]]);
  assert.equal(served(2, "step", 6), true);
  tellLater(sync, "step", 7, 300);
  tellLater(sync, "step", 6, 300);
  mock.timers.tick(300);
  assert.equal(posted.length, 1);
  assert.equal(served(2, "step", 1), true); // nothing is held back that was never told
});

test("back to what was served while a change is under way is told", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  served(0, "step", 4);
  tell(sync, "step", 5);
  tellLater(sync, "step", 4, 300);
  mock.timers.tick(300);
  assert.deepEqual(posted.at(-1), [{ name: "step", n: 2, value: 4, opened: HERE }]);
});

test("what is held is kept but not told", () => {
  hold(sync, "step", 5);
  assert.equal(served(0, "step", 4), false);
  assert.deepEqual(posted, []);
});

test("a preview has no say on what was changed, and teaches nothing", () => {
  assert.equal(served(null, "open", "a"), true);
  tell(sync, "open", "b");
  assert.equal(served(null, "open", "a"), false);
  assert.equal(served(1, "open", "b"), true);
});

test("a server that began anew is right: it will never hear of what was told before", () => {
  tell(sync, "open", "b");
  assert.equal(served(1, "open", "b"), true);
  tell(sync, "open", "c");
  assert.equal(served(0, "open", "a"), true);
});

test("numbers go on from those that the server knows already", () => {
  listen(sync, 7, HERE);
  tell(sync, "open", "b");
  assert.equal(posted[0][0].n, 8);
});

test("another text forgets, and an end ends the waiting", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  tellLater(sync, "view", "x", 300);
  forget(sync);
  assert.equal(served(0, "view", "y"), true);
  tellLater(sync, "view", "z", 300);
  endSync(sync);
  mock.timers.tick(300);
  assert.deepEqual(posted, []);
});

test("a change is of the address that it was made on: at another one the server is right", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  tell(sync, "open", "b");
  hold(sync, "off", ["b"]);
  tellLater(sync, "step", 5, 300);
  listen(sync, 0, HERE + 1);
  for (const name of ["open", "off", "step"]) assert.equal(accepts(sync, name, "c"), true);
  mock.timers.tick(300);
  tellHeld(sync);
  assert.equal(posted.length, 1);
  tell(sync, "view", "x");
  assert.deepEqual(posted.at(-1), [{ name: "view", n: 4, value: "x", opened: HERE + 1 }]);
});
