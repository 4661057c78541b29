// A script of one line in anybody's page: it puts a figure in its place, as high as that is.
// <script src="https://example.org/headscope/embed.js" data-text="It rains." data-picture="map">

(() => {
  const script = document.currentScript;
  const { title = "Headscope", ...choices } = script.dataset;
  const address = new URL("figure.html", script.src);
  for (const [name, value] of Object.entries(choices)) address.searchParams.set(name, value);
  const frame = document.createElement("iframe");
  Object.assign(frame, { src: address.href, title });
  frame.style.cssText = "display: block; width: 100%; height: 480px; border: 0";
  window.addEventListener("message", ({ source, data }) => {
    if (source === frame.contentWindow && data?.headscope > 0) frame.style.height = `${data.headscope}px`;
  });
  script.replaceWith(frame);
})();
