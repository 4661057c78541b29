// What Streamlit calls, in every component the same: mount, update, dispose.

import { withPreview } from "./preview.js";
import { createSync, endSync, listen } from "./sync.js";
import { openEnvelope } from "./unpack.js";

// create(root, sync) makes a view { dispose(), ... } in the component's own element;
// update(view, envelope) draws what the server says, or what a text being typed would give.
// attach(root, view): what stands beside a component, { update(envelope), end() }.
export function mounted(name, create, update, attach = () => null) {
  const hosted = new WeakMap();
  return function ({ data, parentElement, setTriggerValue }) {
    const root = parentElement.querySelector(`.${name.replaceAll("_", "-")}`);
    if (!hosted.has(root)) hosted.set(root, mount(root, create, update, attach));
    const { sync, preview, dispose } = hosted.get(root);
    sync.post = (news) => setTriggerValue("news", news);
    preview.give(data);
    return () => {
      if (root.isConnected) return; // of a call that another has overtaken: its view is in use
      dispose();
      hosted.delete(root);
    };
  };
}

function mount(root, create, update, attach) {
  const sync = createSync();
  const view = create(root, sync);
  const beside = attach(root, view);
  const preview = withPreview((bytes) => {
    const envelope = openEnvelope(bytes);
    listen(sync, envelope.heard ?? null, envelope.opened);
    update(view, envelope);
    beside?.update(envelope);
  });
  const dispose = () => {
    view.dispose();
    endSync(sync);
    preview.end();
    beside?.end();
    root.replaceChildren();
  };
  return { sync, preview, dispose };
}
