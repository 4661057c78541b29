// The button that changes what is written. It comes when it is known, into a place that is kept for it.

import { mounted } from "../kit/mounted.js";
import { onOffer, seekOffer } from "../kit/offers.js";
import { applyPalette, element } from "../kit/page.js";
import { PREVIEW_EVENT, aimAt, tryFirst } from "../kit/preview.js";
import { accepts, hold, tellHeld } from "../kit/sync.js";
import { unpack } from "../kit/unpack.js";

export default mounted("change_offer", create, update);

function create(root, sync) {
  const view = { root, sync, of: "", offer: null, button: element("button") };
  const { button } = view;
  button.type = "button";
  button.onclick = () => take(view);
  button.onpointerenter = () => aimAt(changedBy(view.offer));
  button.onpointerleave = () => aimAt(null);
  root.replaceChildren(button);
  const silence = onOffer((offer) => offer.of === view.of && show(view, offer));
  const away = ({ detail }) => root.classList.toggle("away", Boolean(detail)); // its words are of another text
  window.addEventListener(PREVIEW_EVENT, away);
  const dispose = () => {
    silence();
    window.removeEventListener(PREVIEW_EVENT, away);
    seekOffer(null);
  };
  return Object.assign(view, { dispose });
}

function update(view, { palette, of, isSought, payload }) {
  applyPalette(view.root, palette);
  const { offer } = unpack(payload).header;
  const isNew = of !== view.of;
  view.of = of;
  if (offer || isNew || !isSought) show(view, offer);
  seekOffer(isSought && !view.offer ? of : null);
}

// parts: words, and by turns with them what is quoted.
function show(view, offer) {
  const { button, sync } = view;
  view.offer = offer;
  button.hidden = !offer || !accepts(sync, "taken", offer.edits);
  button.title = offer?.title ?? "";
  button.replaceChildren(...(offer?.parts ?? []).map((part, i) => (i % 2 ? element("q", "", part) : part)));
}

const changedBy = ({ edits }) => ({ edits });

function take(view) {
  const { sync, offer } = view;
  hold(sync, "taken", offer.edits);
  view.button.hidden = true; // until the server has heard of it
  tryFirst(changedBy(offer), () => tellHeld(sync), () => "taken" in sync.own);
}
