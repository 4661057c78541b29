// The sentence field while somebody types: each text is asked for as a draft, one after the other.

const AGAIN = 100; // ms after which a busy server is asked once more
const [REFUSED, BUSY] = [204, 202]; // as viz/ui/drafts.py answers

// Returns listen(address), to be told where drafts are, and end().
function followTyping() {
  const typing = { address: "", wanted: null, isAsking: false, latest: null };
  const typed = ({ target, isComposing }) => {
    const isField = target instanceof HTMLInputElement && target.getAttribute("aria-label") === "Sentence";
    if (!typing.address || !isField || isComposing) return;
    typing.wanted = target.value;
    if (!typing.isAsking) ask(typing, target);
  };
  const wentBack = () => {
    typing.wanted = null;
    announceDraft(typing, null);
  };
  const events = [
    [document, "input", typed],
    [document, "compositionend", typed],
    [window, "popstate", wentBack],
  ];
  for (const [node, name, heard] of events) node.addEventListener(name, heard, true);
  return {
    listen: (address) => (typing.address = address),
    end: () => {
      typing.wanted = null;
      for (const [node, name, heard] of events) node.removeEventListener(name, heard, true);
    },
  };
}

// parts: the bytes that each picture is to show, by name; null: what the server said last.
// The last comes a frame later: drawn at once, all of them would miss the first.
function announceDraft(typing, parts) {
  const tell = (detail) => window.dispatchEvent(new CustomEvent(DRAFT_EVENT, { detail }));
  typing.latest = parts;
  if (!parts) {
    tell(null);
    return;
  }
  const names = Object.keys(parts);
  const last = names.pop();
  tell(Object.fromEntries(names.map((name) => [name, parts[name]])));
  const later = () => typing.latest === parts && tell({ [last]: parts[last] });
  requestAnimationFrame(() => setTimeout(later));
}

async function ask(typing, field) {
  typing.isAsking = true;
  const text = typing.wanted;
  const { status, bytes } = await fetchDraft(typing.address, text);
  typing.isAsking = false;
  if (field.value !== typing.wanted) return; // somebody went back, or took an example
  if (status === 200) announceDraft(typing, partsOf(bytes));
  if (status === REFUSED) announceDraft(typing, null);
  if (status === BUSY) setTimeout(() => !typing.isAsking && ask(typing, field), AGAIN);
  else if (typing.wanted !== text) ask(typing, field);
}

async function fetchDraft(address, text) {
  try {
    const answer = await fetch(address, { method: "POST", body: text });
    return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) };
  } catch {
    return { status: 0 }; // the server is gone, as Streamlit says
  }
}

function partsOf(bytes) {
  const { header, arrays } = unpack(bytes);
  return Object.fromEntries(header.names.map((name, i) => [name, arrays[i]]));
}
