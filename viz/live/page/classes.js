// What a classifier says of a text: a bar for each class, as the app's chart has it.

import { element } from "../../components/kit/page.js";
import { filled } from "./models.js";

// classes: { name, prob, share, logit, isBest } of each, or none. says: the sentence over them.
export function drawClasses(node, classes, says) {
  node.hidden = !classes;
  if (!classes) return;
  const best = classes.find(({ isBest }) => isBest);
  const list = element("ul");
  for (const each of classes) {
    const row = element("li");
    const bar = element("span", "bar");
    bar.append(Object.assign(element("span"), { style: `width: ${100 * each.prob}%` }));
    row.append(element("span", "name", each.name), bar, element("span", "share", each.share));
    row.toggleAttribute("data-best", each.isBest);
    list.append(row);
  }
  node.replaceChildren(element("p", "", filled(says, best)), list);
}
