// Canvases that are sharp at any number of device pixels, and images to fill pixel by pixel.

// Device pixels per CSS pixel while something is drawn for a file.
let chosen = null;

export function ratio() {
  return chosen ?? window.devicePixelRatio;
}

// What is drawn meanwhile has so many device pixels per CSS pixel.
export function atRatio(number, draw) {
  chosen = number;
  try {
    draw();
  } finally {
    chosen = null;
  }
}

// Sizes in CSS pixels -> device pixels.
export function devicePixels(...sizes) {
  return sizes.map((size) => Math.round(size * ratio()));
}

// The context of a canvas of so many device pixels, emptied.
export function emptied(canvas, width, height) {
  const context = canvas.getContext("2d");
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  context.reset();
  return context;
}

// pixels: of `data`, one number each, as shade.js makes them.
export function createImage(width, height) {
  const data = new ImageData(width, height);
  return { data, width, height, pixels: new Uint32Array(data.data.buffer) };
}
