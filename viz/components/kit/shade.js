// Weights -> colours. The shade shows the square root of a weight: small weights stay visible.

export const MASKED = 255; // as kit/thumbnails.py writes them
export const FULL = 254;

// In words.
export function lawOf({ name }) {
  return `${name === "dark" ? "brighter" : "darker"} = more (square-root scale)`;
}

export function channels(colour) {
  return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
}

// The scale's colour at a value in 0..1, as [r, g, b].
export function colourAt(scale, value) {
  const place = Math.min(1, Math.max(0, value)) * (scale.length - 1);
  const i = Math.min(scale.length - 2, Math.floor(place));
  const [a, b] = [channels(scale[i]), channels(scale[i + 1])];
  return a.map((x, c) => Math.round(x + (b[c] - x) * (place - i)));
}

// 256 pixels as ImageData holds them: one a byte of pack_head_grid, the last for masked cells.
export function pixelTable(palette) {
  const table = new Uint32Array(256);
  for (let byte = 0; byte <= FULL; byte++) table[byte] = pixel(colourAt(palette.scale, byte / FULL));
  table[MASKED] = pixel(channels(palette.masked));
  return table;
}

export function pixel([r, g, b]) {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

// Of several cells under one pixel the one of the highest rank is seen: the largest, or the one
// farthest from the middle when the scale is signed; a masked one only when all of them are.
const RANKS = [(byte) => byte, (byte) => Math.abs(byte - FULL / 2)].map((size) =>
  Int16Array.from({ length: 256 }, (_, byte) => (byte === MASKED ? -1 : size(byte))),
);

// One map of rows x columns bytes onto a box { left, top, width, height } of an image { pixels,
// width }.
export function paintMap(image, box, cells, rows, columns, table, signed = false) {
  const { pixels, width: stride } = image;
  const { left, width, height } = box;
  const ranks = RANKS[Number(signed)];
  const across = spans(columns, width);
  const down = spans(rows, height);
  for (let y = 0; y < height; y++) {
    const start = (box.top + y) * stride + left;
    const top = down[2 * y];
    const bottom = down[2 * y + 1];
    if (y > 0 && top === down[2 * y - 2] && bottom === down[2 * y - 1]) {
      pixels.copyWithin(start, start - stride, start - stride + width);
      continue;
    }
    const line = joinRows(cells, columns, top, bottom, ranks);
    for (let x = 0; x < width; x++) {
      let best = line[across[2 * x]];
      for (let column = across[2 * x] + 1; column < across[2 * x + 1]; column++) {
        if (ranks[line[column]] > ranks[best]) best = line[column];
      }
      pixels[start + x] = table[best];
    }
  }
}

// The rows from top to before bottom as one.
function joinRows(cells, columns, top, bottom, ranks) {
  const first = cells.subarray(top * columns, (top + 1) * columns);
  if (bottom - top === 1) return first;
  const line = first.slice();
  for (let i = (top + 1) * columns; i < bottom * columns; i++) {
    const column = i % columns;
    if (ranks[cells[i]] > ranks[line[column]]) line[column] = cells[i];
  }
  return line;
}

// For each of nPixels, the first cell that it covers and the one after its last.
export function spans(nCells, nPixels) {
  const result = new Int32Array(2 * nPixels);
  for (let i = 0; i < nPixels; i++) {
    const first = Math.floor((i * nCells) / nPixels);
    result[2 * i] = first;
    result[2 * i + 1] = Math.max(first + 1, Math.floor(((i + 1) * nCells) / nPixels));
  }
  return result;
}

// Background of a chip that shows a weight.
export function shadeChip(node, weight, palette) {
  paintChip(node, colourAt(palette.scale, Math.sqrt(weight)));
}

export function paintChip(node, shade) {
  node.style.background = `rgb(${shade.join(" ")})`;
  node.style.color = inkOn(shade);
}

// Black or white, whichever reads better: one of the two has a contrast of at least 4.5 on any
// colour.
export function inkOn(shade) {
  const light = luminance(shade);
  return contrast(light, 0) > contrast(light, 1) ? "#000000" : "#ffffff";
}

// WCAG 2.2's relative luminance and contrast ratio.
export function luminance(rgb) {
  const [r, g, b] = rgb.map((c) => c / 255).map((c) =>
    c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrast(a, b) {
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}
