// The pages: what each of them shows. A new one is an entry here, a button in the `nav` of page.html and
// elements there with data-of="NAME", or with the name of a group: "text" for the pages on which a model
// answers a text, else none is opened; "model" for those that are of a checkpoint.

export const LARGE = { arrows: "head_view", map: "head_map", inside: "cell_steps" };

// name -> groups; cards: whether a written word opens its card; isUnchanged: whether the model is shown without
// the edits of an address; hasSecond: whether B stands beside it; isOffered(model): whether a checkpoint has it; pictures(it): the components of what is
// chosen, in the order of painting.
export const PAGES = {
  explore: {
    groups: ["text", "model"],
    cards: true,
    isOffered: () => true,
    pictures: (it) => ["token_rows", "head_grid", LARGE[it.picture]],
  },
  decode: {
    groups: ["text", "model"],
    cards: true,
    isOffered: isWriter,
    pictures: () => ["token_rows", "search_tree", "decode_player"],
  },
  compare: {
    groups: ["text", "model"],
    isUnchanged: true,
    hasSecond: true,
    isOffered: isModel,
    pictures({ picture }) {
      const large = picture === "map" ? LARGE.map : LARGE.arrows;
      return ["token_rows", `${large} a`, `${large} b`, "comparison", "head_map difference"];
    },
  },
  sweep: {
    groups: ["text", "model"],
    isUnchanged: true,
    isOffered: isModel,
    pictures: () => ["token_rows"],
  },
  heads: { groups: ["model"], isOffered: isModel, pictures: () => [] },
  gallery: listOf("gallery"),
  stories: listOf("stories"),
  lessons: listOf("lessons"),
};

export const isOfText = (page) => PAGES[page].groups.includes("text");

// A list of other pages, in a folder that has it.
function listOf(name) {
  const isOffered = () => document.querySelector(`section[data-of="${name}"]`) !== null;
  return { groups: [], isOffered, pictures: () => [] };
}

// Not of arrays that a reader brought as a file.
function isModel({ file }) {
  return !file;
}

function isWriter({ methods }) {
  return methods.length > 0;
}
