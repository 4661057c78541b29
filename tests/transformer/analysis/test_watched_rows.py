"""Heads of a watched model are switched off in the rows of a batch, where these are right."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.representatives import cases
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, decode, load_checkpoint
from transformer.analysis.ablation import heads_off, sweep
from transformer.analysis.scored import output_of, scored
from transformer.edits.edit import Edit

TEXT = "5 9 12 33 7 9"
FAMILIES = ("BERT", "GPT-2", "Llama", "gpt-oss", "T5", "Marian", "DistilBERT", "DeepSeek-V3")
FEW = {
    **{"a vector or masks": "BERT", "a prompt": "GPT-2", "two sides": "Marian"},
    "by hand, with a sink": "gpt-oss",
}


@contextmanager
def counted(model: nn.Module) -> Iterator[list[int]]:
    """The rows of each pass of a model."""
    rows: list[int] = []

    def count(module: nn.Module, args: Any, named: dict[str, Any]) -> None:
        rows.append(len(next(it for it in (*args, *named.values()) if isinstance(it, Tensor))))

    handle = model.register_forward_pre_hook(count, with_kwargs=True)
    yield rows
    handle.remove()


def opened(family: str, folder: Path) -> Checkpoint:
    torch.manual_seed(1)
    build(family).save_pretrained(folder)
    return load_checkpoint(folder, "cpu")


def both(checkpoint: Checkpoint) -> tuple[list[int], Tensor, Tensor]:
    """The rows of the passes of a sweep, its numbers, and those of a recording for each head."""
    target = (
        decode(checkpoint, TEXT, "greedy", max_len=5).target if checkpoint.family.decodes else None
    )
    output = output_of(checkpoint, TEXT, target)
    edits = heads_off(checkpoint, output)
    groups: list[tuple[Edit, ...]] = [(), *((edit,) for edit in edits)]
    alone = torch.cat([it.log_probs for it in scored(checkpoint, output, groups, in_batches=False)])
    with counted(checkpoint.model) as rows:
        result = sweep(checkpoint, TEXT, target)
    assert result.edits == edits
    return rows, torch.cat([result.log_probs[None], result.log_probs + result.changes]), alone


@pytest.mark.parametrize("family", cases(FAMILIES, FEW))
def test_a_batch_says_what_a_recording_for_each_head_says(family: str, tmp_path: Path) -> None:
    rows, together, alone = both(opened(family, tmp_path))
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-4)
    n_heads = len(alone) - 1
    assert max(rows) == n_heads + 1 and len(rows) < n_heads + 3


class OfAllRows(nn.Module):
    """A layer whose output of a row depends on the other rows, as that of batch normalisation."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x - x.mean(0, keepdim=True) * (len(x) > 1))  # type: ignore[no-any-return]


class Turned(OfAllRows):
    """Rows come out in another order."""

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x).flip(0)  # type: ignore[no-any-return]


class Once(OfAllRows):
    """A layer that takes one row only."""

    def forward(self, x: Tensor) -> Tensor:
        assert len(x) == 1, "one row"
        return self.inner(x)  # type: ignore[no-any-return]


@pytest.mark.parametrize("style", [OfAllRows, Turned, Once])
def test_heads_run_one_by_one_where_rows_are_not_what_they_are_alone(
    style: type[OfAllRows], tmp_path: Path
) -> None:
    checkpoint = opened("BERT", tmp_path)
    layer: Any = checkpoint.model.get_submodule("inner.bert.encoder.layer.1.output.dense")
    parent: Any = checkpoint.model.get_submodule("inner.bert.encoder.layer.1.output")
    parent.dense = style(layer)
    rows, together, alone = both(checkpoint)
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-5)
    assert rows.count(1) >= len(alone)


def test_a_head_that_cannot_be_switched_off_is_refused_beside_the_others(tmp_path: Path) -> None:
    checkpoint = opened("GPT-2", tmp_path)
    output = output_of(checkpoint, TEXT, None)
    there = [(edit,) for edit in heads_off(checkpoint, output)]
    missing = (Edit("head-off", "decoder_self", (0, 99)),)
    results = [*scored(checkpoint, output, [(), *there, missing])]
    assert [bool(each.refused) for each in results] == [False] * (len(there) + 1) + [True]
