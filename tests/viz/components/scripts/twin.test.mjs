import assert from "node:assert/strict";
import { test } from "node:test";

import { announce, announceSight, onSight, placeIn, placesOf, tokenAt } from "../../../../viz/components/kit/twin.js";

globalThis.window = new EventTarget();

// Cross attention: three rows of a target, four columns of a source.
function picture(twin, rows = [0, 1, 2], kind = "cross") {
  const sides = { rows: { target: rows }, columns: { source: [0, 1, 2, 3] } };
  return { twin, map: { header: { kind, sides } } };
}

function heard(act) {
  let found = null;
  const listen = ({ detail }) => (found = detail);
  window.addEventListener("headscope:token", listen);
  act();
  window.removeEventListener("headscope:token", listen);
  return found;
}

test("a row has the name of its token, and the row before a text one of its own", () => {
  const places = { target: [1, 2, 2, 3] };
  assert.deepEqual([0, 2, 9].map((place) => tokenAt(places, place)), [
    { side: "target", position: -1 },
    { side: "target", position: 1 },
    null,
  ]);
  assert.deepEqual([-1, 1, 7, null].map((position) => placeIn(places, { side: "target", position })), [0, 2, -1, -1]);
  assert.equal(placeIn({ target: [0, 1] }, { side: "target", position: -1 }), -1);
});

test("a cell of one picture is that cell in the other, by the words that stand for each other", () => {
  const [a, b] = [picture({}), picture({ target: [0, 2, -1] })];
  const cell = heard(() => announce(a, { side: "target", position: 1 }, "cell", { side: "source", position: 3 }));
  assert.deepEqual(placesOf(b, cell), { rows: 2, columns: 3, isCell: true });
  const back = heard(() => announce(b, { side: "target", position: 2 }, "cell", { side: "source", position: 3 }));
  assert.deepEqual(placesOf(a, back), { rows: 1, columns: 3, isCell: true });
});

test("a word that the other text lacks is marked nowhere there", () => {
  const [a, b] = [picture({}), picture({ target: [0, 2, -1] })];
  const lost = heard(() => announce(a, { side: "target", position: 2 }, "cell", { side: "source", position: 0 }));
  assert.deepEqual(placesOf(b, lost), { rows: -1, columns: -1, isCell: true });
  assert.equal(heard(() => announce(b, { side: "target", position: 1 }, "rows")), null);
});

test("another kind of attention, and a picture that stands alone, mark the word alone", () => {
  const cell = heard(() =>
    announce(picture({}), { side: "target", position: 1 }, "cell", { side: "source", position: 3 }),
  );
  for (const other of [picture({}, undefined, "self"), picture(null)]) {
    assert.deepEqual(placesOf(other, cell), { rows: 1, columns: -1, isCell: false });
  }
});

test("the same words come into sight, and the word before one that is not there", () => {
  const [a, b] = [picture({}), picture({ target: [1, -1, 2] })];
  const followed = [];
  const silence = onSight(b, (sight) => followed.push(sight));
  announceSight(a, { rows: [0.5, 2], columns: [1, 3] });
  announceSight(a, { rows: [1.5, 1] });
  silence();
  announceSight(a, { rows: [0, 1] });
  assert.deepEqual(followed, [{ rows: [1.5, 2], columns: [1, 3] }, { rows: [1.5, 1] }]);
});
