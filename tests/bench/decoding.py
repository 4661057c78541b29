"""What the cache of keys and values saves: a greedy step against running the prefix anew."""

from dataclasses import replace
from typing import Any

import torch

from tests.bench.bench import Bench, Row, paired_ratio
from tests.bench.model import bench_checkpoint, sentence
from transformer.inputs import source_ids
from transformer.models.encoder_decoder import DecoderState

N_SOURCE, LENGTHS, PAIRS = 30, (16, 32, 64), 5


def run(is_quick: bool) -> list[Row]:
    lengths, pairs = ((2,), 1) if is_quick else (LENGTHS, PAIRS)
    checkpoint = bench_checkpoint()
    model: Any = checkpoint.model
    source = torch.tensor([source_ids(checkpoint, sentence(checkpoint, N_SOURCE))])

    @torch.inference_mode()
    def cached(n: int) -> None:
        state, token = model.start(source), source.new_tensor([[checkpoint.config.bos_id]])
        for _ in range(n):
            token = model.advance(state, token)[:, -1:].argmax(-1)

    @torch.inference_mode()
    def anew(n: int) -> None:
        start, target = model.start(source), source.new_tensor([[checkpoint.config.bos_id]])
        for _ in range(n):
            chosen = model.advance(fresh(start), target)[:, -1:].argmax(-1)
            target = torch.cat([target, chosen], dim=1)

    baseline = "the prefix run anew at each step, the source once"
    return [
        Row(
            f"decoding {n} tokens",
            paired_ratio(lambda n=n: cached(n), lambda n=n: anew(n), pairs),
            baseline,
            goal=1.0,
        )
        for n in lengths
    ]


def fresh(state: DecoderState) -> DecoderState:
    """As it was before the first target token; the memory's keys and values are shared."""
    return replace(state, caches=[replace(cache, own=None) for cache in state.caches])


BENCH = Bench("decoding", run)
