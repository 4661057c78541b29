"""Packed pictures: what each shows of an answer, made once for all sessions."""

from viz.components.kit.picture import Picture
from viz.run.kept import KEPT
from viz.run.request import Answer, Request


def payload_of(answer: Answer, picture: Picture) -> bytes:
    """The packed data of a picture of an answer. Raises ValueError as the picture does."""
    return KEPT.get((answer.request, picture), lambda: picture.payload(*answer.made), len)


def keep_payload(request: Request, picture: Picture, payload: bytes) -> None:
    """Put a payload that was made elsewhere into the cache."""
    KEPT.put((request, picture), payload, len(payload))
