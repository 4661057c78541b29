"""What watching a forced pass costs: goal, at most a twentieth of the pass."""

import torch

from tests.bench.bench import Bench, Row, paired_ratio
from tests.bench.model import bench_checkpoint, sentence, unwatched
from transformer import record
from transformer.inputs import source_ids, target_ids

N_TOKENS, PAIRS = 30, 200


def run(is_quick: bool) -> list[Row]:
    checkpoint = bench_checkpoint()
    bare = unwatched(checkpoint)
    text = sentence(checkpoint, N_TOKENS)
    target = [checkpoint.tokenizer.token(id) for id in target_ids(checkpoint, text)]

    def forced_pass() -> None:
        sources = torch.tensor([source_ids(checkpoint, text)])
        inputs = [checkpoint.config.bos_id, *target_ids(checkpoint, target)[:-1]]
        with torch.inference_mode():
            bare(sources, torch.tensor([inputs]))

    ratio = paired_ratio(
        lambda: record(checkpoint, text, target), forced_pass, 1 if is_quick else PAIRS
    )
    baseline = "the same forced pass, nothing watched"
    return [Row(f"recording {N_TOKENS}+{N_TOKENS} tokens", ratio, baseline, goal=1.05)]


BENCH = Bench("recording", run)
