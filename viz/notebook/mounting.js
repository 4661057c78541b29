// A component in an element of a page without a server: what stands for Streamlit there.

// content: { html, css, answers }; theme() names the one that is shown. Returns what shows data.
export function mounted(component, host, { html, css, answers }, theme) {
  const shadow = host.attachShadow({ mode: "open" }); // as in Streamlit: `:host` is meant
  const sheet = document.createElement("style");
  sheet.textContent = css;
  shadow.append(sheet, document.createRange().createContextualFragment(html));
  let shown = null; // what was answered last stays, as when the theme changes
  const show = (given) => {
    shown ??= given;
    const data = joined(bytesOf(shown.heads[theme()]), bytesOf(shown.payload));
    component({ data, parentElement: shadow, setTriggerValue, setStateValue: setTriggerValue });
  };
  // What a person chooses stays in the page; what Python would have answered is here, or nothing.
  function setTriggerValue(_, news) {
    const asked = news.map(({ name, value }) => answers[JSON.stringify([name, value])] ?? answers[JSON.stringify([name])]);
    const answer = asked.find(Boolean);
    if (!answer) return;
    shown = answer;
    setTimeout(() => show(answer));
  }
  return show;
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
