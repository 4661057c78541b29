// The small pictures of a grid's cards: the head that is spoken of, its layer, and by a metric the heads
// with the least and the most of it.

import { thumbnails } from "../kit/illustrations.js";
import { metricOf, nameOf } from "./words.js";

const SMALL = 40; // px of a thumbnail beside many

export function illustrate({ described }, what, name) {
  if (!described || !described.section.thumbnails.length) return null;
  const { section, index, layer } = described;
  if (what === "head") return thumbnails("", [mapOf(section, index)]);
  if (what === "layer" && section.thumbnails.shape[1] > 1) {
    const heads = section.cells.filter((cell) => cell.layer === layer);
    const maps = heads.map((cell) => {
      return { ...mapOf(section, cell.index), title: `H${cell.head}`, isMarked: cell === described, side: SMALL };
    });
    return thumbnails(`The heads of layer ${section.header.layers[layer]}`, maps);
  }
  return what === "extremes" ? extremes(section, index, name) : null;
}

function extremes(section, index, name) {
  const metric = metricOf(section, name);
  const order = metric ? section.ranking(name).filter((i) => !Number.isNaN(section.metric(name)[i])) : [];
  if (!order.length) return null;
  const shown = { least: order.at(-1), "this head": index, most: order[0] };
  const maps = Object.entries(shown).map(([which, i]) => {
    const map = mapOf(section, i);
    return { ...map, title: `${which}, ${map.title}`, text: metric.texts[i], isMarked: i === index && which === "this head" };
  });
  return thumbnails(`Of the ${order.length} heads here`, maps);
}

function mapOf(section, index) {
  const { thumbnails: all, table, header } = section;
  const [, , rows, columns] = all.shape;
  const cells = all.subarray(index * rows * columns, (index + 1) * rows * columns);
  const signed = header.lens.scale === "signed";
  return { title: nameOf(section.cells[index]), cells, rows, columns, table, signed };
}
