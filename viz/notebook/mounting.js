// A component in an element of a page without a server: what stands for Streamlit there.

// content: { html, css, answers }; theme() names the one that is shown; hear(what, value): whether an
// engine answers what somebody touched. Returns what shows data: { heads, payload }, or { data }: of
// the theme.
export function mounted(component, host, { html, css, answers }, theme, hear = () => false) {
  const shadow = host.attachShadow({ mode: "open" }); // as in Streamlit: `:host` is meant
  const sheet = document.createElement("style");
  sheet.textContent = css;
  shadow.append(sheet, document.createRange().createContextualFragment(html));
  let [shown, first, heard] = [null, null, 0]; // what was answered last stays, as when the theme changes
  const show = (given) => {
    if (given !== first) [first, shown] = [given, given];
    const head = () => joined(bytesOf(shown.heads[theme()]), bytesOf(shown.payload));
    const data = shown.data ? shown.data(theme()) : head();
    component({ data, parentElement: shadow, setTriggerValue, setStateValue: setTriggerValue });
  };
  // What a person chooses stays in the page; what Python would have answered is here, or nothing.
  function setTriggerValue(_, news) {
    const fresh = news.filter(({ n }) => n > heard);
    heard = Math.max(heard, ...news.map(({ n }) => n));
    if (fresh.filter(({ name, value }) => hear(name, value)).length) return;
    const asked = news.map(({ name, value }) => answers[JSON.stringify([name, value])] ?? answers[JSON.stringify([name])]);
    const answer = asked.find(Boolean);
    if (!answer || shown.data) return;
    shown = answer;
    setTimeout(() => show(first));
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
