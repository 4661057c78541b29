// What Streamlit calls, in every component the same: mount, update, dispose.

import { createTools } from "./figure/tools.js";
import { withPreview } from "./preview.js";
import { createSync, endSync, listen } from "./sync.js";
import { openEnvelope } from "./unpack.js";

// create(root, sync) makes a view { dispose(), ... } in the component's own element;
// update(view, envelope) draws what the server says, or what a text being typed would give.
// isPicture: whether it can be copied as a figure; figure/figure.js says what of a view this asks.
export function host(name, create, update, { isPicture = true } = {}) {
  const hosted = new WeakMap();
  return function ({ data, parentElement, setTriggerValue }) {
    const root = parentElement.querySelector(`.${name.replaceAll("_", "-")}`);
    if (!hosted.has(root)) hosted.set(root, mount(root, create, update, isPicture));
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

function mount(root, create, update, isPicture) {
  const sync = createSync();
  const view = create(root, sync);
  const tools = isPicture ? createTools(root, view) : null;
  const preview = withPreview((bytes) => {
    const envelope = openEnvelope(bytes);
    listen(sync, envelope.heard ?? null);
    update(view, envelope);
    tools?.update(envelope);
  });
  const dispose = () => {
    view.dispose();
    endSync(sync);
    preview.end();
    tools?.end();
    root.replaceChildren();
  };
  return { sync, preview, dispose };
}
