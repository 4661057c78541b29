// A figure within a zip, as viz/paper/crate.py writes it and as people pack it again.

import { BadZip, listed, unzipped } from "../kit/zip.js";

const MOST_FILES = 1000;
const FIGURE = /\.(svg|pdf|png)$/i; // as viz/paper/record.py has them
const FAULTS = {
  locked: "is locked, or packed in a way that is not read here",
  damaged: "is a zip that is damaged",
  many: `holds more than ${MOST_FILES.toLocaleString("en")} files`,
};

// The bytes of each figure; together at most so many are unpacked. Throws an Error whose message goes on
// after the file's name.
export async function figuresIn(bytes, most) {
  const figures = [];
  let room = most;
  try {
    for (const file of listed(bytes, MOST_FILES)) {
      if (!FIGURE.test(file.name)) continue;
      const figure = await unzipped(bytes, file, room);
      room -= figure.length;
      if (room < 0) throw refused(`holds more than ${most.toLocaleString("en")} bytes when it is unpacked`);
      figures.push(figure);
    }
  } catch (error) {
    throw error instanceof BadZip ? refused(FAULTS[error.message]) : error;
  }
  return figures;
}

function refused(why) {
  return new Error(`${why}: save the crate again, or unpack it and open the figure in it.`);
}
