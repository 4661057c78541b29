// A component that is a picture: it is mounted, and can be copied and saved as a figure.

import { createTools } from "./figure/tools.js";
import { mounted } from "./mounted.js";

// As `mounted` takes them; what a figure asks of a view stands in figure/figure.js.
export function host(name, create, update) {
  return mounted(name, create, update, createTools);
}
