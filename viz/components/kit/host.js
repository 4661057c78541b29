// What Streamlit calls, in every component the same: mount, update, dispose.

import { withPreview } from "./preview.js";
import { createSync, endSync, listen } from "./sync.js";
import { openEnvelope } from "./unpack.js";

// create(root, sync) makes a view { dispose(), ... } in the component's own element;
// update(view, envelope) draws what the server says, or what a text being typed would give.
export function host(name, create, update) {
  const hosted = new WeakMap();
  return function ({ data, parentElement, setTriggerValue }) {
    const root = parentElement.querySelector(`.${name.replaceAll("_", "-")}`);
    if (!hosted.has(root)) hosted.set(root, mount(root, create, update));
    const view = hosted.get(root);
    const { sync, preview, dispose } = view;
    sync.post = (news) => setTriggerValue("news", news);
    if (isNews(view, openEnvelope(data))) preview.give(data);
    return () => {
      dispose();
      hosted.delete(root);
    };
  };
}

// While a component is being loaded Streamlit may hand it its first data after its second.
function isNews(view, { session, turn }) {
  if (session === view.session && turn < view.turn) return false;
  Object.assign(view, { session, turn });
  return true;
}

function mount(root, create, update) {
  const sync = createSync();
  const view = create(root, sync);
  const preview = withPreview((bytes) => {
    const envelope = openEnvelope(bytes);
    listen(sync, envelope.heard ?? null);
    update(view, envelope);
  });
  const dispose = () => {
    view.dispose();
    endSync(sync);
    preview.end();
    root.replaceChildren();
  };
  return { sync, preview, dispose };
}
