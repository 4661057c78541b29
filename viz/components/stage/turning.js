// From one scene to the next without a flicker: what was there stays in sight, as a picture, until
// the next one is drawn, and fades into it.

const LOOK = 16; // ms between two looks at the page
const LONGEST = 3000; // ms after which the page is shown as it is; browsers wait for four seconds
const PAGE = ":is(.st-key-page, .st-key-question)"; // or what is asked in its place
const CHART = ".main-svg";
const APP = '[data-testid="stApp"]';

// go() leads on; isDone(): whether the page has followed. Where browsers cannot do it, it only goes.
export function turn(go, isDone) {
  if (!document.startViewTransition || document.hidden) return go();
  const turning = document.startViewTransition(async () => {
    go();
    const start = performance.now();
    while (!isDone() && performance.now() - start < LONGEST) await later();
  });
  // One that another has overtaken ends by itself.
  for (const end of [turning.ready, turning.finished, turning.updateCallbackDone]) end.catch(() => {});
}

function later() {
  return new Promise((wake) => setTimeout(wake, LOOK));
}

// Whether all pictures of the page are there.
function isDrawn() {
  const page = document.querySelector(PAGE);
  const roots = [...(page?.querySelectorAll("*") ?? [])].map(({ shadowRoot }) => shadowRoot).filter(Boolean);
  const pictures = roots.map((root) => root.querySelector(".headscope")).filter(Boolean);
  const charts = [...(page?.querySelectorAll(".stPlotlyChart") ?? [])];
  const isEmpty = !pictures.length && !charts.length && !page?.textContent.trim();
  return !isEmpty && pictures.every((node) => node.childElementCount) && charts.every((node) => node.querySelector(CHART));
}

// Whether the scene of this number, counted from 1, is on the page, and nothing is being drawn.
export function isShown(number) {
  const app = document.querySelector(APP);
  const scene = document.querySelector(".st-key-scene [data-scene]")?.dataset.scene;
  const isRunning = app?.dataset.testScriptState !== "notRunning";
  return scene === String(number) && !isRunning && isDrawn() && !document.querySelector('[data-stale="true"]');
}
