// From one scene to the next without a flicker: what was there stays in sight, as a picture, until
// the next one is drawn, and fades into it.

const LOOK = 16; // ms between two looks at the page
const FRAME = 400; // ms within which a browser that draws this window takes the picture of it
const LONGEST = 3000; // ms after which the page is shown as it is; browsers wait for four seconds

// go() leads on; isDone(): whether the page has followed. Where browsers cannot do it, it only goes.
export function turn(go, isDone) {
  if (!document.startViewTransition || document.hidden) return go();
  let isGone = false;
  const goOnce = () => {
    if (!isGone) go();
    isGone = true;
  };
  setTimeout(goOnce, FRAME); // of a window behind another one it may take none
  const turning = document.startViewTransition(async () => {
    goOnce();
    const start = performance.now();
    while (!isDone() && performance.now() - start < LONGEST) await later();
  });
  // One that another has overtaken ends by itself.
  for (const end of [turning.ready, turning.finished, turning.updateCallbackDone]) end.catch(() => {});
}

function later() {
  return new Promise((wake) => setTimeout(wake, LOOK));
}
