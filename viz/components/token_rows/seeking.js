// What the page may offer is asked for once it is at rest. Whoever types has it dropped: it is asked for again
// when they rest.

import { announceOffer, seekOffer, sought } from "../kit/offers.js";
import { unpack } from "../kit/unpack.js";
import { AGAIN, ANSWERED, isRunning, isTyping, post } from "./asking.js";

const OFFER = { offer: true }; // as viz/run/previews.py
const REST = 700; // ms between two looks at whether the page is at rest

export async function seek(typing) {
  if (typing.isSeeking) return;
  typing.isSeeking = true;
  while (sought() && typing.address) {
    await new Promise((wake) => setTimeout(wake, REST));
    const of = sought();
    if (!of || !typing.address || isRunning() || isTyping(typing) || typing.isTrying) continue;
    const { status, bytes } = await post(typing.address, OFFER);
    if (status === AGAIN || of !== sought()) continue;
    seekOffer(null);
    if (status === ANSWERED) announceOffer(unpack(bytes).header);
  }
  typing.isSeeking = false;
}
