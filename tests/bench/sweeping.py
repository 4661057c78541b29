"""What it costs to try every head of the shipped model: in one batch, against a pass per head."""

from typing import Any

import torch

from tests.bench.bench import Bench, Row, paired_ratio
from tests.bench.model import bench_checkpoint, sentence
from transformer import decode, record
from transformer.analysis.sweep import heads_off, sweep
from transformer.editing.ours import Editing, editing
from transformer.inputs import source_ids

N_TOKENS, PAIRS = 15, 7


def run(is_quick: bool) -> list[Row]:
    n, pairs = (3, 1) if is_quick else (N_TOKENS, PAIRS)
    checkpoint = bench_checkpoint()
    text = sentence(checkpoint, n)
    target = decode(checkpoint, text, max_len=n).target
    edits = heads_off(checkpoint)
    model: Any = checkpoint.model
    source = torch.tensor([source_ids(checkpoint, text)])
    bos: Any = checkpoint.config
    read = torch.tensor([[bos.bos_id, *(token.id for token in target[:-1])]])

    def swept() -> None:
        sweep(checkpoint, text, target)

    def decoded() -> None:
        for edit in edits:
            decode(checkpoint, text, "forced", target=target, edits=[edit])

    @torch.inference_mode()
    def passed() -> None:
        for edit in edits:
            with editing(model, checkpoint.family, Editing([edit])):
                model(source, read).log_softmax(-1)

    def recorded() -> None:
        record(checkpoint, text, target)

    def edited() -> None:
        record(checkpoint, text, target, edits=edits[:1])

    name = f"sweep of {len(edits)} heads, {n} tokens"
    ratio = paired_ratio(swept, decoded, pairs)
    rows = [Row(name, ratio, "decode(..., edits=) per head", goal=0.2)]
    rows.append(Row(name, paired_ratio(swept, passed, pairs), "a bare pass per head"))
    ratio = paired_ratio(edited, recorded, 1 if is_quick else 40)
    return [*rows, Row(f"recording with a head off, {n} tokens", ratio, "recording without")]


BENCH = Bench("sweeping", run)
