// One component in a page of its own: what stands for Streamlit there.

// component: the default export of its module. content: { html, css, themes, first, answers }.
export default function standAlone(component, { html, css, themes, first, answers }) {
  const theme = chosenTheme(Object.keys(themes));
  const { background, text } = themes[theme];
  document.documentElement.style.colorScheme = theme;
  Object.assign(document.body.style, { background, color: text });
  const main = document.querySelector("main");
  const shadow = main.attachShadow({ mode: "open" }); // as in Streamlit: `:host` is meant
  const sheet = document.createElement("style");
  sheet.textContent = css;
  shadow.append(sheet, document.createRange().createContextualFragment(html));
  const show = (given) => {
    const data = joined(bytesOf(given.heads[theme]), bytesOf(given.payload));
    component({ data, parentElement: shadow, setTriggerValue, setStateValue: setTriggerValue });
  };
  // What a person chooses stays in the page; what Python would have answered is here, or nothing.
  function setTriggerValue(_, news) {
    const asked = news.map(({ name, value }) => answers[JSON.stringify([name, value])]);
    const answer = asked.find(Boolean);
    if (answer) setTimeout(() => show(answer));
  }
  show(first);
  fitFrame();
}

function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function joined(head, payload) {
  const bytes = new Uint8Array(head.length + payload.length);
  bytes.set(head);
  bytes.set(payload, head.length);
  return bytes;
}

// As light or dark as the text around the frame tells; without a frame, as the system is.
function chosenTheme(names) {
  if (names.length === 1) return names[0];
  const frame = window.frameElement; // null where there is none, or none of the same origin
  const colour = frame ? getComputedStyle(frame).color : "";
  if (!colour.startsWith("rgb")) {
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
  const [red, green, blue] = colour.match(/[\d.]+/g).map(Number);
  return 0.3 * red + 0.6 * green + 0.1 * blue > 128 ? "dark" : "light";
}

// A frame without a height of its own becomes as high as what it shows, and never jumps back.
function fitFrame() {
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
