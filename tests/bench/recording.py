"""What watching a forced pass costs: goal, at most a twentieth of the pass."""

import torch

from tests.bench.bench import Bench, Row, paired_ratio
from tests.bench.model import fresh_checkpoint, sentence
from transformer import record
from transformer.inputs import source_ids, target_ids

N_TOKENS, PAIRS = 30, 200


def run() -> list[Row]:
    watched, bare = fresh_checkpoint(), fresh_checkpoint()  # hooks stay: one model for each
    text = sentence(watched, N_TOKENS)
    target = [watched.tokenizer.token(id) for id in target_ids(watched, text)]

    def forced_pass() -> None:
        sources = torch.tensor([source_ids(bare, text)])
        inputs = torch.tensor([[bare.config.bos_id, *[token.id for token in target[:-1]]]])
        with torch.inference_mode():
            bare.model(sources, inputs)

    ratio = paired_ratio(lambda: record(watched, text, target), forced_pass, PAIRS)
    baseline = "the same forced pass, nothing watched"
    return [Row(f"recording {N_TOKENS}+{N_TOKENS} tokens", ratio, baseline, goal=1.05)]


BENCH = Bench("recording", run)
