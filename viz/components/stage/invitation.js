// How the audience comes to follow: a QR code with the link below it, large on the wall and small
// beside the notes; or a sentence that says why nobody can.

import { element } from "../kit/page.js";

export function fillInvitation(place, { link, qr, why } = {}) {
  if (place.dataset.shown === (link || why)) return;
  place.dataset.shown = link || why || "";
  if (!link) return place.replaceChildren(element("p", "why", why ?? ""));
  const code = element("img");
  Object.assign(code, { src: qr, alt: `QR code of ${link}` });
  const words = element("p", "link");
  const address = element("a", "", link.replace(/^https?:\/\//, ""));
  Object.assign(address, { href: link, target: "_blank", rel: "noopener" });
  words.append(element("strong", "", "Follow on your phone"), address);
  place.replaceChildren(code, words);
}
