"""Frames between models elsewhere and who asks them: a letter, a length, and so many bytes.

PLACE says how many come first, DRAFT what is written so far, ANSWER and ERROR end it, and BEAT only
says that it goes on, so that whoever waits may leave. Nothing in them is a pickle.
"""

import json
import struct
from collections.abc import Callable, Iterator
from typing import Any

from transformer import Checkpoint, Decoding
from transformer.decoding.wire import from_data, to_data
from transformer.recording.wire import to_bytes
from transformer.recording.wire_reading import from_bytes
from transformer.refusal import Refusal
from viz.run.models.place import Outcome

PATH, KIND = "/headscope/1", "application/json"
"""The place of tasks, with the number of this form, and their kind."""
MARK, RANK, DRAFTS = "X-Headscope-Checkpoint", "X-Headscope-Rank", "X-Headscope-Drafts"
"""Headers: the fingerprint of the checkpoint, the rank in the line, and whether drafts are sent."""
PLACE, DRAFT, ANSWER, ERROR, BEAT = b"P", b"D", b"A", b"E", b"B"
HEAD = struct.Struct("<cQ")
MOST = 2**30
"""Bytes of a frame."""


class FrameError(Refusal, ValueError):
    """Bytes that are no frame."""


def frame(kind: bytes, content: bytes = b"") -> bytes:
    """Return a frame as bytes."""
    return HEAD.pack(kind, len(content)) + content


def frames(read: Callable[[int], bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Read frames until the last one. read: gives so many bytes, or fewer at the end.

    Raises FrameError where the bytes end before, or are no frames.
    """
    while True:
        head = read(HEAD.size)
        if len(head) < HEAD.size:
            raise FrameError("The answer ends before its end.")
        kind, length = HEAD.unpack(head)
        if kind not in (PLACE, DRAFT, ANSWER, ERROR, BEAT) or length > MOST:
            raise FrameError("What answers is not Headscope's models.")
        content = read(length) if length else b""
        if len(content) < length:
            raise FrameError("The answer ends before its end.")
        yield kind, content
        if kind in (ANSWER, ERROR):
            return


def packed(outcome: Outcome, checkpoint: Checkpoint, mark: str) -> bytes:
    """Return a decoding and a recording as the content of an ANSWER. Raises WireError."""
    data = None if outcome.decoding is None else to_data(outcome.decoding)
    text = json.dumps(data, separators=(",", ":")).encode()
    return struct.pack("<I", len(text)) + text + to_bytes(outcome.recording, checkpoint, mark)


def unpacked(content: bytes, checkpoint: Checkpoint, mark: str) -> Outcome:
    """Return what `packed` was given. Raises FrameError, WireError and DecodingError."""
    if len(content) < 4:
        raise FrameError("The answer is too short to be one.")
    (length,) = struct.unpack_from("<I", content)
    data = json_of(content[4 : 4 + length])
    decoding = None if data is None else from_data(data, checkpoint)
    return Outcome(decoding, from_bytes(content[4 + length :], checkpoint, mark))


def draft(text: str, n_tokens: int, decoding: Decoding) -> bytes:
    """Return a text that is being written as the content of a DRAFT."""
    return json.dumps([text, n_tokens, to_data(decoding)], separators=(",", ":")).encode()


def json_of(content: bytes) -> Any:
    """Return JSON values. Raises FrameError."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FrameError("The answer holds what is not JSON.") from error
