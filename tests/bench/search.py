"""Decoding with its tree, against `generate` of the transformers library on the same weights."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from tests.bench.bench import Bench, Row, paired_ratio
from tests.bench.model import bench_checkpoint, sentence
from tests.transformer.models.marian_twin import marian_twin
from transformer.decoding.course import Course, Trail
from transformer.decoding.decode import decode, decoding_methods
from transformer.decoding.shared_batch import alone
from transformer.inputs import source_ids

N_SOURCE, LENGTH, PAIRS = 30, 40, 7
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "greedy": ("greedy", {}),
    "beam of 4": ("beam", {"beam_size": 4}),
    "beam of 8": ("beam", {"beam_size": 8}),
}


class NoTrail(Trail):
    """A trail that nothing is written into."""

    def add(self, *place: Any, **more: Any) -> int:
        return 0

    def drop(self, *place: Any, **more: Any) -> None: ...

    def __contains__(self, place: object) -> bool:
        return True


def run(is_quick: bool) -> list[Row]:
    length, pairs = (3, 1) if is_quick else (LENGTH, PAIRS)
    checkpoint = bench_checkpoint()
    # No end before the limit, on both sides: so many tokens in any case.
    checkpoint = replace(checkpoint, config=replace(checkpoint.config, eos_id=None))
    model: Any = checkpoint.model
    model.config = checkpoint.config
    theirs = marian_twin(model)
    text = sentence(checkpoint, N_SOURCE)
    source = torch.tensor([source_ids(checkpoint, text)])
    theirs.generation_config.eos_token_id = None
    rows = []
    for name, (method, options) in METHODS.items():

        def ours(method: str = method, options: dict[str, Any] = options) -> None:
            decode(checkpoint, text, method, max_len=length, **options)

        def library(size: int = options.get("beam_size", 1)) -> None:
            with torch.inference_mode():
                theirs.generate(
                    source, num_beams=size, do_sample=False, max_new_tokens=length, use_cache=True
                )

        ratio = paired_ratio(ours, library, pairs)
        rows.append(Row(f"{name}, with its tree", ratio, "generate, same weights", goal=1 / 1.3))
        bare, whole = _search(model, source, method, length, options)
        ratio = paired_ratio(whole, bare, 3 * pairs)
        rows.append(Row(f"{name}, with its trail", ratio, "without it", goal=1.1))
    return rows


def _search(
    model: Any, source: torch.Tensor, method: str, length: int, options: dict[str, Any]
) -> tuple[Callable[[], object], Callable[[], object]]:
    """The search alone, without and with what it writes down."""
    search = decoding_methods()[method].run

    @torch.inference_mode()
    def of(trail: Callable[[], Trail]) -> None:
        course = Course(trail=trail())
        alone(model, search(model, source, max_len=length, course=course, **options), source)

    return lambda: of(NoTrail), lambda: of(Trail)


BENCH = Bench("search", run)
