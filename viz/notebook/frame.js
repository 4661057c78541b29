// The frame around a page, where there is one: its theme and its height.

// As light or dark as the text around the frame tells; without a frame, as the system is.
export function chosenTheme(names) {
  if (names.length === 1) return names[0];
  const frame = window.frameElement; // null where there is none, or none of the same origin
  if (!frame) return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  return brightness(getComputedStyle(frame).color) > 128 ? "dark" : "light";
}

// From 0 to 255, of any colour that CSS can say: a computed one may be rgb(), lab() or oklch().
function brightness(colour) {
  const brush = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  brush.fillStyle = colour;
  brush.fillRect(0, 0, 1, 1);
  const [red, green, blue] = brush.getImageData(0, 0, 1, 1).data;
  return 0.3 * red + 0.6 * green + 0.1 * blue;
}

// A frame without a height of its own becomes as high as what it shows, and never jumps back.
export function fitFrame() {
  const frame = window.frameElement;
  if (!frame?.hasAttribute("data-fits")) return;
  let [width, height] = [0, 0];
  new ResizeObserver(() => {
    const { offsetWidth, offsetHeight } = document.body;
    if (!offsetWidth) return; // not shown yet
    if (offsetWidth !== width) [width, height] = [offsetWidth, 0];
    height = Math.max(height, offsetHeight);
    frame.style.height = `${height}px`;
  }).observe(document.body);
}
