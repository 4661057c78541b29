import assert from "node:assert/strict";
import { test } from "node:test";

import { isNews } from "../../../../viz/components/address/theme.js";
import { actionOf } from "../../../../viz/components/stage/keys.js";
import { createTogether, giveUp, goThere, hear, lead, see } from "../../../../viz/components/stage/together.js";

const nowhere = { matches: () => false };
const byKeys = { matches: () => true };
const page = { matches: (selector) => selector === ":focus-visible" }; // a link has led to it
const press = (key, more = {}) => ({ key, ...more });
// opened: each link is opened once, unless said otherwise.
const at = (link, here = link, opened = link) => ({ here, asked: link, led: link, opened });
const news = (to, more = {}) => ({ to, over: "", holds: false, ...more });

// A window in a room whose talk is at "one".
function inRoom(holds) {
  const window = createTogether();
  see(window, at("one"));
  assert.deepEqual(hear(window, news("one", { holds, done: 0 }), true), {});
  return window;
}

test("a clicker leads on wherever the keyboard is, but not while a text is typed", () => {
  assert.equal(actionOf(press("PageDown"), false, byKeys), "next");
  assert.equal(actionOf(press("PageUp"), false, nowhere), "previous");
  assert.equal(actionOf(press("."), false, byKeys), "blank");
  for (const key of ["PageDown", " ", "b", ".", "ArrowLeft", "F5", "q", "p", "h"]) {
    assert.equal(actionOf(press(key), true, nowhere), null);
  }
  assert.equal(actionOf(press("Escape"), true, nowhere), "field");
});

test("arrow keys and the space bar belong to what the keyboard has led to", () => {
  for (const key of ["ArrowRight", " "]) {
    for (const each of [nowhere, page, null]) assert.equal(actionOf(press(key), false, each), "next");
    assert.equal(actionOf(press(key), false, byKeys), null);
  }
  assert.equal(actionOf(press("D"), false, nowhere), "dark");
  assert.equal(actionOf(press("d", { ctrlKey: true }), false, nowhere), null);
  assert.equal(actionOf(press("x"), false, nowhere), null);
});

test("whoever follows goes where the talk goes, until something is changed there", () => {
  const phone = inRoom(false);
  assert.deepEqual(hear(phone, news("two")), { follow: "two" });
  see(phone, at("one")); // drawn before it went
  assert.ok(phone.isThere);
  see(phone, at("two"));
  see(phone, at("two", "two, another sentence"));
  assert.ok(!phone.isThere);
  assert.deepEqual(hear(phone, news("three")), {});
  assert.equal(goThere(phone, phone.to), "three");
  see(phone, at("three"));
  assert.ok(phone.isThere);
  assert.deepEqual(hear(phone, news("four")), { follow: "four" });
});

test("who has wandered to where the talk goes is there; what does not exist is no change", () => {
  const phone = inRoom(false);
  see(phone, at("one", "two"));
  assert.ok(!phone.isThere);
  hear(phone, news("two"));
  assert.ok(phone.isThere);
  hear(phone, news("three, head 99"));
  see(phone, { asked: "three, head 99", led: "three", here: "three", opened: "three, head 99" });
  assert.ok(phone.isThere);
});

test("what the presenter changes is told once, and news from before lead nowhere", () => {
  const stage = inRoom(true);
  const told = (to, done) => hear(stage, news(to, { holds: true, done }));
  assert.deepEqual(see(stage, at("one", "one, edited")), { tell: { id: 1, to: "one, edited", over: "" } });
  assert.deepEqual(see(stage, at("one", "one, edited")), {});
  assert.deepEqual(told("one, edited", 1), {});
  const ids = ["two", "three"].map((link) => lead(stage, goThere(stage, link)).id);
  assert.deepEqual(ids, [2, 3]);
  assert.deepEqual(told("two", 2), {});
  assert.deepEqual(see(stage, at("two")), {});
  assert.deepEqual(told("nine", 2), {}); // of another window, before the server heard of "three"
  assert.deepEqual(told("three", 3), {});
  assert.deepEqual(told("one", 3), { follow: "one" });
});

test("there and back at once: what the server draws in between is led to by nobody", () => {
  const wall = inRoom(true);
  for (const link of ["two", "one"]) lead(wall, goThere(wall, link));
  assert.deepEqual(see(wall, at("one")), {}); // drawn again, before it heard of anything
  assert.deepEqual(see(wall, at("two")), {});
  assert.deepEqual(see(wall, at("one", "one", "again")), {});
  const typed = { tell: { id: 3, to: "one, edited", over: "" } };
  assert.deepEqual(see(wall, at("one", "one, edited", "again")), typed);
});

test("where the server never draws what a window goes to, what is changed there is told again", () => {
  const wall = inRoom(true);
  lead(wall, goThere(wall, "two"));
  assert.deepEqual(see(wall, at("one", "one, edited")), {});
  giveUp(wall);
  assert.deepEqual(see(wall, at("one", "one, edited")), { tell: { id: 2, to: "one, edited", over: "" } });
});

test("what was led to without a connection is told once there is one", () => {
  const stage = inRoom(true);
  lead(stage, goThere(stage, "two"));
  const again = hear(stage, news("one", { holds: true, done: 0 }), true);
  assert.deepEqual(again, { tell: { id: 1, to: "two", over: "" } });
  const opened = inRoom(true); // by its key, in a server that has begun anew
  assert.deepEqual(hear(opened, news(null, { holds: true, done: 0 }), true), { tell: { id: 1, to: "one", over: "" } });
  const phone = inRoom(false);
  assert.deepEqual(hear(phone, news("five"), true), { follow: "five" });
});

test("a theme other than the server's is told once, and again after it has followed", () => {
  const known = { server: "light", asked: "" };
  assert.deepEqual([isNews(known, "light"), isNews(known, "dark"), isNews(known, "dark")], [false, true, false]);
  assert.ok(!isNews(known, "light")); // back before the server has followed
  assert.ok(isNews(known, "dark"));
  known.server = "dark";
  assert.deepEqual([isNews(known, "dark"), isNews(known, "light")], [false, true]);
});
