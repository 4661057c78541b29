// The pages: what each of them shows. A new one is an entry here, a button in the `nav` of page.html and
// elements there with data-of="NAME"; those with data-of="text" stand on every page that is of a text.

export const LARGE = { arrows: "head_view", map: "head_map", inside: "cell_steps" };

// name -> isOfText: a model answers a text there, else none is opened; isOffered(model): whether a
// checkpoint has it; pictures(it): the components of what is chosen, in the order of painting.
export const PAGES = {
  explore: {
    isOfText: true,
    isOffered: () => true,
    pictures: (it) => ["token_rows", "head_grid", LARGE[it.picture]],
  },
  decode: {
    isOfText: true,
    isOffered: isWriter,
    pictures: () => ["token_rows", "search_tree", "decode_player"],
  },
};

function isWriter({ methods }) {
  return methods.length > 0;
}
