// What Streamlit calls: while a component loads, once for each data it was given, in any order.

import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.window = new EventTarget();
const { mounted } = await import("../../../../viz/components/kit/mounted.js");
const { packed } = await import("./packed.mjs");

// One component on a page: its calls, and what became of its views.
function page() {
  const views = [];
  const root = { isConnected: true, replaceChildren() {} };
  const component = mounted(
    "head_map",
    () => {
      const view = { shown: [], isOver: false, dispose: () => (view.isOver = true) };
      views.push(view);
      return view;
    },
    (view, { version }) => view.shown.push(version),
  );
  const parentElement = { querySelector: () => root };
  const give = (version) =>
    component({ data: packed({ session: "a", version }), parentElement, setTriggerValue() {} });
  return { root, views, give };
}

test("the end of a call that another has overtaken leaves the view alone", () => {
  const { views, give } = page();
  give(2);
  give(1)(); // Streamlit ends it at once: its data are no longer those of the component
  give(3);
  assert.deepEqual(views.map(({ shown, isOver }) => [shown, isOver]), [[[2, 3], false]]);
});

test("a component that is gone from the page is over, and begins anew when it returns", () => {
  const { root, views, give } = page();
  const end = give(1);
  root.isConnected = false;
  end();
  assert.equal(views[0].isOver, true);
  root.isConnected = true;
  give(1);
  assert.deepEqual(views.map(({ shown, isOver }) => [shown, isOver]), [[[1], true], [[1], false]]);
});
