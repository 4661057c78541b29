"""A visitor as the server sees a browser: a websocket of Streamlit's messages, and previews."""

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets import Subprotocol
from websockets.asyncio.client import ClientConnection, connect

from viz.components.kit.browser import unpack

WAIT = 120.0
"""Seconds after which an answer is taken to be lost."""
Shown = tuple[tuple[str, ...], tuple[str, ...]]
"""The labels of the source's tokens, and of the target's."""

_NOUNS = [
    "animal",
    "street",
    "rain",
    "road",
    "dog",
    "train",
    "book",
    "window",
    "garden",
    "house",
    "teacher",
    "child",
    "river",
]
_VERBS = ["saw", "followed", "crossed", "liked", "found", "left", "forgot", "painted", "heard"]
_HOW = ["old", "tired", "small", "red", "quiet", "new", "long", "cold"]


def sentence(random: random.Random) -> str:
    """Hardly ever the same twice: nothing that is asked for is kept already."""
    one, two = random.sample(_NOUNS, 2)
    verb, how, what = random.choice(_VERBS), random.choice(_HOW), random.choice(_HOW)
    return f"The {how} {one} {verb} the {what} {two} {random.randint(2, 99)} times."


@dataclass
class Visitor:
    """A session of the app at this address, from opening the page on."""

    address: str
    query: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    """Sent with each request, such as a cookie."""
    shown: Shown = ((), ())
    """What the token rows show."""
    errors: list[str] = field(default_factory=list)
    offered: asyncio.Event = field(default_factory=asyncio.Event)
    """It is set once who waits is offered the page that runs in their browser."""
    session: str = ""
    """What the server calls it; a connection that names it goes on with it."""
    _again: dict[str, float] = field(default_factory=dict)
    """Parts of the page that ask to be drawn again -> after how many seconds."""
    _page: str = ""
    _fragment: str = ""
    _field: str = ""
    _previews: str = ""

    async def __aenter__(self) -> Self:
        await self.connect()
        await self._run()
        return self

    async def __aexit__(
        self, kind: type | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._socket.close()

    async def connect(self) -> None:
        """As a browser whose line was cut: go on with the session, where there is one."""
        # The second place is that of a token against forged requests, which none of ours needs.
        named = ["streamlit", "-", self.session] if self.session else ["streamlit"]
        self._socket: ClientConnection = await connect(
            f"ws{self.address.removeprefix('http')}/_stcore/stream",
            subprotocols=[Subprotocol(each) for each in named],
            additional_headers=self.headers,
            max_size=None,
            open_timeout=WAIT,
            ping_timeout=WAIT,
        )

    async def cut(self, asks: bool = False) -> None:
        """Lose the connection, without a word. asks: after it has asked for the page."""
        if asks:
            await self._ask()
        self._socket.transport.abort()
        await self._socket.wait_closed()

    async def leave(self) -> None:
        """Close the connection, as a browser does that goes to another page."""
        await self._socket.close()

    async def enter(self, text: str) -> float:
        """Enter a sentence, as by Enter. The seconds until all of the page is there."""
        started = time.perf_counter()
        self.offered.clear()
        await self._run(text)
        return time.perf_counter() - started

    async def preview(self, text: str) -> Shown | None:
        """What a preview of the text shows; None where the server shows none yet."""
        status, content = await asyncio.to_thread(self._post, json.dumps({"text": text}))
        if status != 200:
            return None
        header, arrays = unpack(content)
        return _tokens(arrays[header["keys"].index("tokens")].tobytes())

    def _post(self, body: str) -> tuple[int, bytes]:
        connection = HTTPConnection(urlsplit(self.address).netloc, timeout=WAIT)
        try:
            connection.request("POST", self._previews, body, self.headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    async def _run(self, text: str | None = None) -> None:
        """Until nothing of the page asks to be drawn again, as what waits for its answer does."""
        self._again.clear()
        await self._ask(text)
        while True:
            while not self._hear(await asyncio.wait_for(self._socket.recv(), WAIT)):
                pass
            if not self._again:
                return
            part, seconds = next(iter(self._again.items()))
            await asyncio.sleep(seconds)
            await self._ask_for(part)

    async def _ask(self, text: str | None = None) -> None:
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_script_hash = urlencode(self.query), self._page
        if text is not None:
            asked.fragment_id = self._fragment
            state = asked.widget_states.widgets.add()
            state.id, state.string_value = self._field, text
        await self._socket.send(message.SerializeToString())

    async def _ask_for(self, part: str) -> None:
        """As a browser does by itself."""
        message = BackMsg()
        asked = message.rerun_script
        asked.query_string, asked.page_script_hash = urlencode(self.query), self._page
        asked.fragment_id, asked.is_auto_rerun = part, True
        await self._socket.send(message.SerializeToString())

    def _hear(self, data: Any) -> bool:
        """Take one message in. Whether it says that the run has come to its end."""
        message = ForwardMsg.FromString(data)
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._page = message.new_session.page_script_hash
            self.session = message.new_session.initialize.session_id
        if kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._take(message.delta.new_element, message.delta.fragment_id)
        if kind == "auto_rerun":
            self._again[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        if kind == "stop_auto_rerun":
            for part in message.stop_auto_rerun.fragment_ids:
                self._again.pop(part, None)
        if (
            kind == "script_finished"
            and message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN
        ):
            self._again.clear()  # all of the page is drawn next
            return False
        return kind == "script_finished"

    def _take(self, element: Any, fragment: str) -> None:
        kind = element.WhichOneof("type")
        if kind == "text_input" and element.text_input.label == "Sentence":
            self._field, self._fragment = element.text_input.id, fragment
        elif kind == "bidi_component" and element.bidi_component.component_name == "token_rows":
            self.shown = _tokens(element.bidi_component.bytes)
            self._previews = unpack(element.bidi_component.bytes)[0]["address"]
        elif kind == "html" and "<a data-typed" in element.html.body:
            self.offered.set()
        elif kind == "alert" or kind == "exception":
            self.errors.append(str(element)[:200])


def _tokens(data: bytes) -> Shown:
    """What the token rows were told."""
    _, (payload,) = unpack(data)
    return tokens_of(payload.tobytes())


def tokens_of(payload: bytes) -> Shown:
    """What is written in a payload of the token rows."""
    header, _ = unpack(payload)
    source, target = (tuple(piece for piece, *_ in header[side]) for side in ("source", "target"))
    return source, target
