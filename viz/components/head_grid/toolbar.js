// What the grid shows, how it is sorted and how many heads are kept: three native selects.

import { element } from "../kit/page.js";

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
  for (const [name, title] of [["show", "Show"], ["sort", "Sort"], ["top", "Top"]]) {
    const field = element("div", "field");
    const label = element("label", "", title);
    const select = element("select", name);
    select.id = label.htmlFor = `grid-${name}`;
    select.onchange = read;
    field.append(label, select);
    node.append(field);
    toolbar[name] = select;
  }
  toolbar.top.append(...TOPS.map((n) => new Option(n || "all", n)));
  return toolbar;
}

// view: as `effective` gives it. The number that is kept needs a metric to go by.
export function setToolbar(toolbar, metrics, view, top) {
  const offered = metrics.map(({ name }) => name).join();
  if (offered !== toolbar.offered) {
    toolbar.offered = offered;
    const options = () => metrics.map(({ name, title }) => new Option(title, name));
    toolbar.show.replaceChildren(new Option("maps", "maps"), ...options());
    toolbar.sort.replaceChildren(new Option("by layer", "layer"), ...options());
  }
  toolbar.show.value = view.show;
  toolbar.sort.value = view.sort;
  toolbar.top.value = view.by === null ? 0 : TOPS.includes(top) ? top : 0;
  toolbar.show.disabled = toolbar.sort.disabled = metrics.length === 0;
  toolbar.top.disabled = view.by === null;
  const without = metrics.length ? "" : "Metrics describe single heads; this lens has none";
  toolbar.node.title = without;
  toolbar.top.title = view.by === null ? without || "Show or sort by a metric first" : "";
}
