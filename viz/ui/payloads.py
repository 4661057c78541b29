"""Packed pictures: what each shows of an answer, made once for all sessions."""

from viz.components.kit.picture import Picture
from viz.ui.kept import KEPT
from viz.ui.opened import title
from viz.ui.request import Answer, Request


def payload_of(answer: Answer, picture: Picture) -> bytes:
    """The packed data of a picture of an answer. Raises ValueError as the picture does."""
    return KEPT.get((answer.request, picture), lambda: picture.payload(*answer.made), len)


def caption_of(answer: Answer, name: str) -> str:
    """What stands below a copied figure: the checkpoint, and what is shown of it, by name."""
    return f"{title(answer.request.checkpoint)} · {name}"


def keep_payload(request: Request, picture: Picture, payload: bytes) -> None:
    """Put a payload that was made elsewhere into the cache."""
    KEPT.put((request, picture), payload, len(payload))
