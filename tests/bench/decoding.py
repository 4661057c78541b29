"""What the cache of keys and values saves: a greedy step against running the prefix anew."""

import torch

from tests.bench.bench import Bench, Row, paired_ratio
from tests.bench.model import fresh_checkpoint, sentence
from transformer.inputs import source_ids

N_SOURCE, LENGTHS, PAIRS = 30, (16, 32, 64), 5


def run() -> list[Row]:
    checkpoint = fresh_checkpoint()
    model = checkpoint.model
    source = torch.tensor([source_ids(checkpoint, sentence(checkpoint, N_SOURCE))])

    @torch.inference_mode()
    def cached(n: int) -> None:
        state, token = model.start(source), source.new_tensor([[checkpoint.config.bos_id]])
        for _ in range(n):
            token = model.advance(state, token)[:, -1:].argmax(-1)

    @torch.inference_mode()
    def anew(n: int) -> None:
        target = source.new_tensor([[checkpoint.config.bos_id]])
        for _ in range(n):
            chosen = model(source, target)[:, -1:].argmax(-1)
            target = torch.cat([target, chosen], dim=1)

    baseline = "source and prefix run anew at each step"
    return [
        Row(
            f"decoding {n} tokens",
            paired_ratio(lambda n=n: cached(n), lambda n=n: anew(n), PAIRS),
            baseline,
            goal=1.0,
        )
        for n in LENGTHS
    ]


BENCH = Bench("decoding", run)
