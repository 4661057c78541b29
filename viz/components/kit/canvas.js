// Canvases that are sharp at any number of device pixels, and images to fill pixel by pixel.

// Sizes in CSS pixels -> device pixels.
export function devicePixels(...sizes) {
  return sizes.map((size) => Math.round(size * window.devicePixelRatio));
}

// The context of a canvas of so many device pixels, emptied.
export function emptied(canvas, width, height) {
  const context = canvas.getContext("2d");
  if (canvas.width === width && canvas.height === height) context.reset();
  else Object.assign(canvas, { width, height }); // this empties it too
  return context;
}

// pixels: of `data`, one number each, as shade.js makes them.
export function createImage(width, height) {
  const data = new ImageData(width, height);
  return { data, width, height, pixels: new Uint32Array(data.data.buffer) };
}
