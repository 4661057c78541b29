"""Packing pictures: what each shows of an answer, made once for all sessions."""

from collections.abc import Iterator
from dataclasses import dataclass

from viz.components.kit.picture import Picture
from viz.run.batches import Runner
from viz.run.cache import CACHE
from viz.run.operating.times import timed
from viz.run.request import Answer, Request, answer
from viz.run.study import Study


@dataclass(frozen=True)
class Packing(Study[bytes]):
    """The data of a picture of an answer."""

    request: Request
    picture: Picture

    def run(self, before: bytes | None, runner: Runner) -> Iterator[bytes]:
        yield self.picture.payload(*answer(self.request).parts)


def payload_of(answer: Answer, picture: Picture) -> bytes:
    """The packed data of a picture of an answer. Raises ValueError as the picture does."""
    # Not finished as others are: an answer that is shown need not be kept any more.
    packed = Packing(answer.request, picture)

    def pack() -> bytes:
        with timed("packed"):
            return picture.payload(*answer.parts)

    return CACHE.get(packed, pack, len)


def keep_payload(request: Request, picture: Picture, payload: bytes) -> None:
    """Put a payload that was made elsewhere into the cache."""
    CACHE.put(Packing(request, picture), payload, len(payload))
