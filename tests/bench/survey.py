"""What batches save a survey: goal, a fifth of one sentence after the other.

One by one is what the parts of this project do together: decode, record, every metric of every
layer. A survey does more (footprints, roles, the largest weight of each row).

Of a batch of the large model 86 % of the time goes into products of matrices, though no logits are
computed: its ratio hangs on how much faster a processor multiplies 300 rows than 10, and is a
quarter on cores with AVX2 that have other work beside.
"""

import time
from collections.abc import Callable
from typing import Any

from tests.bench.bench import Bench, Row, paired_ratio
from tests.bench.model import bench_checkpoint, random_checkpoint
from tests.conftest import SENTENCES
from transformer import Checkpoint, decode, record
from transformer.analysis.metrics.metrics import measure
from transformer.config import ModelConfig
from transformer.corpus.survey import Surveyor, counted

N, N_GPT2, PAIRS = 256, 64, 5  # a shard has 256 lines
ONE_BY_ONE = 32
"""Sentences that are timed one by one: each takes as long."""


def run(is_quick: bool) -> list[Row]:
    n, n_gpt2 = (4, 4) if is_quick else (N, N_GPT2)
    checkpoint = bench_checkpoint()
    try:
        checkpoint.tokenizer.encode(SENTENCES[0])
        texts = [" ".join([*SENTENCES, *SENTENCES][i : i + 1 + i % 2]) for i in range(n)]
    except ValueError:  # random weights, which read numbers
        texts = _numbers(n)
    sizes: dict[str, Any] = {"n_decoder_layers": 12, "n_heads": 12, "d_model": 768, "d_ff": 3072}
    if is_quick:
        sizes = {"n_decoder_layers": 2, "n_heads": 2, "d_model": 16, "d_ff": 16}
    config = ModelConfig(family="decoder_only", vocab_size=50257, max_len=32, **sizes)
    gpt2 = f"{config.n_decoder_layers} x {config.n_heads} heads, decoder only"
    return [
        _row("encoder-decoder, written greedily", checkpoint, texts, 1 if is_quick else PAIRS),
        _row(gpt2, random_checkpoint(config), _numbers(n_gpt2), 1 if is_quick else 3),
    ]


def _numbers(n: int) -> list[str]:
    """Of 6 to 15 tokens, as short sentences have."""
    return [" ".join(str(3 + (7 * i + j) % 90) for j in range(6 + i % 10)) for i in range(n)]


def _row(name: str, checkpoint: Checkpoint, texts: list[str], pairs: int) -> Row:
    surveyor = Surveyor(checkpoint, counts=counted(checkpoint, texts))
    lines, some = dict(enumerate(texts, 1)), texts[:: max(1, len(texts) // ONE_BY_ONE)]

    def batched() -> None:
        surveyor.survey(lines)

    def one_by_one() -> None:
        for text in some:
            target = (
                decode(checkpoint, text).target if checkpoint.family.target == "needed" else None
            )
            for attention in record(checkpoint, text, target).attentions.values():
                for layer in range(attention.n_layers):
                    measure(attention, layer)

    ratio = paired_ratio(batched, one_by_one, pairs) * len(some) / len(texts)
    rates = f"{_rate(batched, len(texts)):.0f} against {_rate(one_by_one, len(some)):.0f}"
    baseline = f"one by one; {rates} sentences per second of a processor"
    return Row(f"survey of {len(texts)} sentences, {name}", ratio, baseline, goal=0.2)


def _rate(run: Callable[[], object], n: int) -> float:
    start = time.process_time()
    run()
    return n / (time.process_time() - start)


BENCH = Bench("survey", run)
