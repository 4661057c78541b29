// One head at each snapshot of a training: its map, the other heads beside it, and its curve.

import { host } from "../kit/host.js";
import { announceToken, applyPalette, element, onToken } from "../kit/page.js";
import { createPlayback, follow, move, onPlayerKey, pause, sayPlace } from "../kit/playback.js";
import { onRoom } from "../kit/room.js";
import { onSwipe } from "../kit/swipe.js";
import { tell } from "../kit/sync.js";
import { unpack } from "../kit/unpack.js";
import { hear } from "../head_map/pointing.js";
import { createCurves, drawCurves, pointCurve, showCurves } from "./curves.js";
import { createHeads, drawHeads, showHeads } from "./heads.js";
import { createStepMap, drawStepMap, isFitted, showStep } from "./map.js";
import { chosenHead, count, metricText } from "./words.js";

export default host("snapshot_player", create, update);

function create(root, sync) {
  const player = { root };
  const playback = createPlayback((place) => show(player, place), sync, "place");
  player.playback = playback;
  player.map = createStepMap(root);
  player.heads = createHeads(
    (head) => tell(sync, "head", head),
    (head) => pointCurve(player.curves, head),
  );
  player.curves = createCurves((place) => move(playback, place));
  player.spoken = element("div", "hidden-text");
  player.spoken.setAttribute("aria-live", "polite");
  root.replaceChildren(
    playback.bar,
    player.map.node,
    player.heads.node,
    player.curves.node,
    player.spoken,
  );
  const endRoom = onRoom(player.map.stage, () => {
    const isOther = root.clientWidth !== player.width || !isFitted(player.map);
    if (player.data && isOther) draw(player);
  });
  const silence = onToken((token) => hear(player.map, token));
  const onKeyDown = (event) => onPlayerKey(playback, root, event);
  window.addEventListener("keydown", onKeyDown);
  onSwipe(player.map.node, (by) => move(playback, playback.step + by));
  player.redraw = () => draw(player);
  player.dispose = () => {
    pause(playback);
    endRoom();
    silence();
    player.map.sentence.end();
    if (player.map.announced) announceToken(player.map.announced.side, null);
    window.removeEventListener("keydown", onKeyDown);
  };
  return player;
}

function update(player, { nonce, palette, place, payload }) {
  const { playback, root } = player;
  const drawn = `${nonce} ${palette.name}`;
  const course = player.data?.header.course;
  if (drawn !== player.drawn) {
    Object.assign(player, { drawn, palette, nonce, data: readSnapshots(payload) });
    applyPalette(root, palette);
    // Before the rest is drawn: the place of the head before may be none of this one's.
    playback.step = Math.min(playback.step, player.data.header.steps.length - 1);
    draw(player);
  }
  const { header } = player.data;
  follow(playback, header.steps.length, place, header.course !== course);
  root.dataset.nonce = nonce;
}

// What viz/components/snapshot_player/snapshot_player.py packs.
function readSnapshots(payload) {
  const { header, arrays } = unpack(payload);
  const [values, thumbnails, numbers, ...rest] = arrays;
  const losses = header.losses.map((title, i) => ({ title, rows: rest[i] }));
  return { header, values, thumbnails, numbers, losses, places: rest[header.losses.length] };
}

function draw(player) {
  const { data, palette, root, playback } = player;
  player.width = root.clientWidth;
  if (!player.width) return; // not shown; the observer calls again
  drawHeads(player.heads, data, palette);
  drawCurves(player.curves, data);
  drawStepMap(player.map, data, palette);
  playback.n = data.header.steps.length;
  show(player, playback.step);
  if (!isFitted(player.map)) {
    drawStepMap(player.map, data, palette);
    show(player, playback.step);
  }
  if (document.fonts.status !== "loaded") {
    document.fonts.ready.then(() => root.isConnected && draw(player)); // canvas text stays as it was
  }
}

function show(player, place) {
  const { data, playback, palette, root } = player;
  const step = data.header.steps[place];
  const n = data.header.steps.length;
  sayPlace(playback, `step ${count(step)}`, `Step ${count(step)}: snapshot ${place + 1} of ${n}`);
  playback.slider.setAttribute("aria-label", "Training step");
  showStep(player.map, data, place);
  showHeads(player.heads, data, palette, place);
  showCurves(player.curves, data, place);
  Object.assign(root.dataset, { step, place });
  if (!playback.playing) player.spoken.textContent = spokenStep(data, place);
}

function spokenStep({ header }, place) {
  const value = metricText(header, place, chosenHead(header));
  return `Step ${count(header.steps[place])}: ${header.metric.title} of ${header.name} ${value}`;
}
