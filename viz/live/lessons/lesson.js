// A lesson as a page that scrolls: scene after scene, each with its tasks, then its pictures. The
// app's viz/pages/lessons/lesson.py has the same order of things.

import { element } from "../../components/kit/page.js";
import { mounted } from "../../notebook/mounting.js";
import { answered, attemptOf, entryOf, revealed, unsealed, untouched } from "./grade.js";
import { createKept } from "./kept.js";
import { createMeasure } from "./measure.js";
import { createOwn } from "./own.js";
import { offerResult } from "./result.js";
import { createTask } from "./task.js";

// draws: name -> a component's drawing code. code: the worker's. content: what Python says of all of it.
export default function lesson(draws, code, content) {
  const { words, components, palettes, variables } = content;
  const kept = createKept(content.name);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const theme = () => (dark.matches ? "dark" : "light");
  let since = performance.now(); // when the last task was over: seconds are counted from there
  const nodes = document.querySelectorAll("section[data-scene]");
  const parts = content.parts.map((part, i) => openPart(part, nodes[i], i));
  const measure = createMeasure(content, kept, begun);

  function openPart(part, node, number) {
    const own = { ...part, number, node, tasks: part.tasks.map(openTask), shows: null };
    if (part.own) own.typed = createOwn(content, code, own, kept, taken);
    return own;
  }

  function openTask(task) {
    const sheet = { ...task, ...unsealed(task.sealed) };
    const entry = kept.entry(task.code);
    const attempt = entry ? attemptOf(words.grading, entry, sheet) : untouched();
    const own = { ...sheet, attempt };
    own.view = createTask(sheet, words, (heard) => hear(own, heard));
    return own;
  }

  function hear(task, { answer, fault, isShown }) {
    const before = task.attempt;
    if (fault) task.attempt = { ...before, hint: fault, isWrong: false };
    else task.attempt = isShown ? revealed(before) : answered(words.grading, before, answer, task);
    const isNew = task.attempt.n !== before.n || task.attempt.isOver;
    if (isNew) {
      kept.keep(task.code, entryOf(task.attempt));
      const { seconds } = kept.of();
      if (task.attempt.isOver) {
        const took = Math.round((performance.now() - since) / 1000);
        kept.note({ seconds: { ...seconds, [task.code]: took } });
        since = performance.now();
      }
      measure.skip();
    }
    draw();
  }

  // Tasks about a sentence that was typed, with their sheets: of this scene.
  function taken(part, sheets) {
    part.tasks = sheets.map(openTask);
    draw();
  }

  function begun() {
    since = performance.now();
    draw();
  }

  function draw() {
    const seen = { waits: new Set(), introduced: new Set(), asked: 0, left: 0 };
    for (const part of parts) seen.left += Number(!drawPart(part, seen));
    const isDone = seen.asked > 0 && !seen.left;
    const done = document.getElementById("done");
    if (isDone && done.hidden) kept.keep(content.done, [0, null, true]);
    done.hidden = !isDone;
    measure.draw(isDone);
  }

  // Whether nothing of it is left to answer.
  function drawPart(part, seen) {
    const host = part.node.querySelector(".tasks");
    const list = part.typed ? [part.typed.node] : [];
    let isOver = !part.typed || !part.typed.isAsked() || part.tasks.length > 0;
    for (const task of part.tasks) {
      seen.asked++;
      if (task.ofRow && seen.waits.has(task.row)) {
        list.push(element("p", "dim", words.continues));
        isOver = false;
        continue;
      }
      if (task.about && !seen.introduced.has(task.row)) {
        seen.introduced.add(task.row);
        list.push(element("p", "dim", task.about));
      }
      task.view.draw(task.attempt);
      list.push(task.view.node);
      if (task.attempt.isOver) continue;
      isOver = false;
      if (task.ofRow) seen.waits.add(task.row);
      if (part.inTurn) break;
    }
    arrange(host, list);
    const waits = part.tasks.some(({ row }) => seen.waits.has(row));
    showResult(part, isOver && !waits && part.tasks.length > 0);
    return isOver;
  }

  function showResult(part, isShown) {
    const node = part.node.querySelector(".result");
    node.hidden = !isShown;
    if (!isShown) return;
    if (part.typed && content.isInSite) {
      const link = Object.assign(element("a", "", words.open), { href: part.typed.address() });
      node.querySelector(".end").replaceChildren(link);
    }
    if (part.end) node.querySelector(".end").replaceChildren(fragmentOf(unsealed(part.end)));
    const hosts = node.querySelectorAll(".picture");
    part.shows ??= part.pictures.map((drawn, k) => {
      const given = { ...components[drawn.component], answers: drawn.answers };
      return () => mounted(draws[drawn.component], hosts[k], given, theme);
    });
    part.shown ??= part.shows.map((mount) => mount());
    part.shown.forEach((show, k) => show(part.pictures[k].first));
  }

  function dress() {
    const root = document.documentElement;
    root.style.cssText = `${variables[theme()]}; color-scheme: ${theme()}`;
    root.dataset.theme = theme(); // of charts, which are images
    for (const name of ["accent", "dim"]) document.body.style.setProperty(`--${name}`, palettes[theme()][name]);
    draw();
  }

  document.querySelector(".unkept").hidden = kept.isKept;
  document.getElementById("again").onclick = () => {
    const codes = parts.flatMap(({ tasks }) => tasks.map((task) => task.code));
    kept.forget([...codes, content.done]);
    location.reload();
  };
  offerResult(content, kept, () => parts);
  dark.addEventListener("change", dress);
  dress();
  document.documentElement.dataset.ready = Math.round(performance.now());
}

// The children of a node: those that stay are not moved, so that the focus stays where it is.
function arrange(host, list) {
  for (const child of Array.from(host.children)) if (!list.includes(child)) child.remove();
  list.forEach((child, i) => {
    if (host.children[i] !== child) host.insertBefore(child, host.children[i] ?? null);
  });
}

// HTML that Python wrote when the page was built, in which every text is escaped.
const fragmentOf = (html) => document.createRange().createContextualFragment(html);
