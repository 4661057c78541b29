// A candidate that is clicked is gone on from: the output begins with what is written up to it.

import { bare } from "../kit/page.js";
import { isOnStage } from "../kit/room.js";
import { tell } from "../kit/sync.js";

const OFFERED = ["role", "tabindex", "aria-label", "data-place"];

export function branchFrom(player, sync) {
  const choose = (event) => {
    const place = event.target.closest(".bar.branches")?.dataset.place;
    if (place === undefined || (event.type === "keydown" && event.key !== "Enter")) return;
    event.preventDefault();
    tell(sync, "branch", pathTo(player, Number(place)));
  };
  player.bars.onclick = choose;
  player.bars.onkeydown = choose;
}

// The ids of all that is written before the step, and that of the candidate.
function pathTo({ header: { ids, steps }, playback: { step } }, place) {
  return [...ids.slice(0, step), steps[step].ids[place]];
}

// place: of the candidate that a bar shows; null: it shows all others.
export function offerBranches({ branches, header, playback: { step } }, bar, place) {
  const isOffered = branches && place !== null && !isOnStage();
  bar.classList.toggle("branches", isOffered);
  if (!isOffered) {
    OFFERED.forEach((name) => bar.removeAttribute(name));
    return;
  }
  bar.dataset.place = place;
  bar.tabIndex = 0;
  bar.setAttribute("role", "button");
  bar.setAttribute("aria-label", offer(header.steps[step], place));
}

// With what it would cost at this step: how much less probable it is than what is written.
export function offer({ candidates, chosen }, place) {
  const [label, , prob, share] = candidates[place];
  if (place === chosen) return `Keep what is written up to ${bare([label])}, ${share}`;
  const nats = Math.log(candidates[chosen][2]) - Math.log(prob);
  const price = nats > 0 && Number.isFinite(nats) ? `, ${nats.toFixed(2)} nats less at this step` : "";
  return `Go on from ${bare([label])}, ${share}${price}`;
}
