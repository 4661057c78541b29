// A scene on a page, this one or that of a frame: how it is gone to, and whether it is there.

const PAGE = ":is(.st-key-page, .st-key-question)"; // or what is asked in its place
const CHARTS = ".stPlotlyChart, .printed";
const CHART = ".main-svg, img";
const MAIN = '[data-testid="stMain"]';
const APP = '[data-testid="stApp"]';

// As by a click: the address component takes it, and nothing is loaded anew.
export function follow(link, page = document) {
  const node = page.createElement("a");
  node.dataset.state = "";
  node.href = link;
  page.body.append(node);
  node.click();
  node.remove();
}

// Whether all pictures of the page are there.
function isDrawn(of) {
  const page = of.querySelector(PAGE);
  const roots = [...(page?.querySelectorAll("*") ?? [])].map(({ shadowRoot }) => shadowRoot).filter(Boolean);
  const pictures = roots.map((root) => root.querySelector(".headscope")).filter(Boolean);
  const charts = [...(page?.querySelectorAll(CHARTS) ?? [])];
  const isEmpty = !pictures.length && !charts.length && !page?.textContent.trim();
  return !isEmpty && pictures.every((node) => node.childElementCount) && charts.every((node) => node.querySelector(CHART));
}

// Whether the scene of this number, counted from 1, is on the page, and nothing is being drawn.
export function isShown(number, page = document) {
  const scene = page.querySelector(".st-key-scene [data-scene]")?.dataset.scene;
  return scene === String(number) && isAtRest(page) && isDrawn(page) && !page.querySelector('[data-stale="true"]');
}

// Whether no script runs.
export function isAtRest(page = document) {
  return page.querySelector(APP)?.dataset.testScriptState === "notRunning";
}

// Whether part of a page is out of sight, so that one would have to scroll.
export function isTaller(page) {
  const places = [page.scrollingElement, page.querySelector(MAIN)];
  return places.some((node) => node && node.scrollHeight > node.clientHeight + 1);
}
