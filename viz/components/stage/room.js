// The socket of a window in a talk's room: what the server tells comes in, what is led goes out.

const NO_ROOM = 4404; // viz/talks/room_routes.py
const NO_MORE = 4429;
const OVER = { [NO_ROOM]: "This talk is over.", [NO_MORE]: "So many follow this talk that nobody else can." };
const NAME = "headscope-who";
const WAITS = [500, 1000, 2000, 5000]; // ms until it is tried again

// hear(news, isFirst); over(why): it is not tried again; lost(): it is.
export function enterRoom(path, { hear, over, lost }) {
  let socket = null;
  let timer = 0;
  let tries = 0;
  let isEnded = false;
  const connect = () => {
    let isFirst = true;
    socket = new WebSocket(`${location.origin.replace(/^http/, "ws")}${path}&who=${ownName()}`);
    socket.onmessage = ({ data }) => {
      tries = 0;
      hear(JSON.parse(data), isFirst);
      isFirst = false;
    };
    socket.onclose = ({ code }) => {
      if (isEnded) return;
      if (OVER[code]) return over(OVER[code]);
      lost();
      const wait = WAITS[Math.min(tries++, WAITS.length - 1)];
      timer = setTimeout(connect, wait * (0.5 + Math.random())); // not all phones at once
    };
  };
  connect();
  return {
    path,
    // What cannot be said now is said when there is a connection again.
    say(said) {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(said));
    },
    end() {
      isEnded = true;
      clearTimeout(timer);
      socket.close();
    },
  };
}

// What the room knows this tab by as long as it is open, so that whoever comes back is not counted twice.
function ownName() {
  try {
    return (sessionStorage[NAME] ??= newName());
  } catch {
    return (window[NAME] ??= newName());
  }
}

function newName() {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// A room for the talk that is at this address. Gives links to the windows in it, { stage, presenter }.
export async function openRoom(rooms, here) {
  const answer = await fetch(rooms, { method: "POST", body: here }).catch(() => null);
  const said = await answer?.json().catch(() => null);
  if (!answer?.ok) throw new Error(said?.why ?? "The server opened no room for this talk: press the key again.");
  return said;
}
