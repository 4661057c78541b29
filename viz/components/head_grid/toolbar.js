// What the grid shows, how it is sorted and how many heads are kept: three native selects.

import { element, within } from "../kit/page.js";
import { effective } from "./order.js";

const TOPS = [0, 5, 10, 20];

// changed({ show, sort, top }) is called when the user chose.
export function createToolbar(changed) {
  const node = element("div", "toolbar");
  node.dataset.control = "";
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", "What the grid shows");
  const toolbar = { node };
  const read = () =>
    changed({ show: toolbar.show.value, sort: toolbar.sort.value, top: Number(toolbar.top.value) });
  for (const [name, title] of [["sort", "Heads"], ["show", "Show"], ["top", "Keep"]]) {
    const field = element("div", "field");
    const label = element("label", "", title);
    const select = element("select", name);
    select.id = label.htmlFor = `grid-${name}`;
    select.onchange = read;
    field.append(label, select);
    node.append(field);
    toolbar[name] = select;
  }
  toolbar.top.append(...TOPS.map((n) => new Option(n ? `the best ${n}` : "all", n)));
  return toolbar;
}

// metrics: of all kinds. Returns what the view comes to, as `effective` says. The number that is
// kept needs a metric to go by.
export function setToolbar(toolbar, metrics, wished) {
  const [view, { top }] = [effective(wished, metrics), wished];
  const offered = metrics.map(({ name }) => name).join();
  if (offered !== toolbar.offered) {
    toolbar.offered = offered;
    const options = (start) => metrics.map(({ name, title }) => new Option(start + within(title), name));
    toolbar.show.replaceChildren(new Option("maps", "maps"), ...options(""));
    toolbar.sort.replaceChildren(new Option("by layer", "layer"), ...options("ranked by "));
  }
  toolbar.show.value = view.show;
  toolbar.sort.value = view.sort;
  toolbar.top.value = view.by === null ? 0 : TOPS.includes(top) ? top : 0;
  toolbar.show.disabled = toolbar.sort.disabled = metrics.length === 0;
  toolbar.top.parentElement.hidden = view.by === null;
  toolbar.node.title = metrics.length ? "" : "Metrics describe single heads; this measure has none";
  return view;
}
