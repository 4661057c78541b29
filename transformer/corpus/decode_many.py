"""Many texts at a time: their steps are taken together, and the results keep their order."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode
from transformer.decoding.shared_batch import SharedBatch
from transformer.decoding.steps import Decoding
from transformer.models.token_model import TokenWriter
from transformer.refusal import Refusal

AT_A_TIME = 16
"""Texts that are decoded at a time, where a model takes batches."""


def decode_many(
    checkpoint: Checkpoint, texts: Iterable[str], **options: Any
) -> Iterator[tuple[str, Decoding | Refusal]]:
    """Decode each text as `decode` does, with the same options, and give (text, result) in order.

    A text that is refused gives its Refusal, and the others go on. Models of ours take the steps of
    sixteen texts together; any other model reads one after the other. Results hold no
    distributions: see `Hypothesis.without_distributions`.
    """
    model: Any = checkpoint.model
    if not isinstance(checkpoint.model, TokenWriter):
        yield from ((text, _one(checkpoint, text, options)) for text in texts)
        return
    named = options | {"run": SharedBatch(model).run}
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        waiting: deque[tuple[str, Future[Decoding | Refusal]]] = deque()

        def first() -> tuple[str, Decoding | Refusal]:
            text, future = waiting.popleft()
            return text, future.result()

        try:
            for text in texts:
                waiting.append((text, pool.submit(_one, checkpoint, text, named)))
                if len(waiting) == 2 * AT_A_TIME:  # so that a long one keeps no thread idle
                    yield first()
            while waiting:
                yield first()
        finally:
            for _, future in waiting:
                future.cancel()


def _one(checkpoint: Checkpoint, text: str, options: dict[str, Any]) -> Decoding | Refusal:
    try:
        return decode(checkpoint, text, **options).without_distributions()
    except Refusal as error:
        return error
