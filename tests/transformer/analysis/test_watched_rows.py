"""Edits of a watched model run in the rows of a batch, where these are right."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.representatives import cases
from tests.transformer.watch.hugging_face import build
from transformer import Checkpoint, decode, load_checkpoint, record
from transformer.analysis.ablation import heads_off
from transformer.analysis.scored import Group, Output, output_of, scored
from transformer.editing.checking import side_read
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


def judged(checkpoint: Checkpoint) -> Output:
    """What is judged of TEXT: a short target, or the text."""
    target = (
        decode(checkpoint, TEXT, "greedy", max_len=5).target if checkpoint.family.decodes else None
    )
    return output_of(checkpoint, TEXT, target)


def both(checkpoint: Checkpoint, groups: Sequence[Group]) -> tuple[list[int], Tensor, Tensor]:
    """The rows of the passes of these groups, their numbers, and those of a recording for each."""
    output = judged(checkpoint)
    alone = torch.cat([it.log_probs for it in scored(checkpoint, output, groups, in_batches=False)])
    with counted(checkpoint.model) as rows:
        together = torch.cat([it.log_probs for it in scored(checkpoint, output, groups)])
    return rows, together, alone


def off(checkpoint: Checkpoint) -> list[Group]:
    """Nothing, and each head off."""
    return [(), *((edit,) for edit in heads_off(checkpoint, judged(checkpoint)))]


def of_scores(checkpoint: Checkpoint) -> list[Group]:
    """Each word hidden, and of each kind of attention every edit of its scores, on some places."""
    output, side = judged(checkpoint), side_read(checkpoint)
    groups: list[Group] = [(), *((Edit("hide", side, (i,)),) for i in range(1, 6))]
    attentions = record(checkpoint, TEXT, output.target).attentions
    for kind, attention in attentions.items():
        last = attention.n_layers - 1, attention.n_heads - 1
        ends = len(attention.queries) - 1, len(attention.keys) - 1
        edits = [Edit("cut", kind, (*last, ends[0], 0)), Edit("head-uniform", kind, last)]
        edits.append(Edit("row-force", kind, (*last, ends[0]), (0.5, 0.25, 0.25)))
        edits.append(Edit("arrow-scale", kind, (0, 0, ends[0], 1), (0.1,)))
        edits.append(Edit("emphasise", kind, (0, 0), (0.01, 0.0)))
        groups += [(edit,) for edit in edits] + [tuple(edits[:1] + edits[3:])]
        groups += [(Edit("head-mean", kind, last), Edit("hide", side, (2,)))]
        groups += [(Edit("cut-word", kind, (1,)),)] * (kind == "cross")
    return groups


@pytest.mark.parametrize("family", cases(FAMILIES, FEW))
@pytest.mark.parametrize("groups", [off, of_scores])
def test_a_batch_says_what_a_recording_for_each_group_says(
    groups: Callable[[Checkpoint], list[Group]], family: str, tmp_path: Path
) -> None:
    checkpoint = opened(family, tmp_path)
    some = groups(checkpoint)
    rows, together, alone = both(checkpoint, some)
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-5)
    assert max(rows) == len(some) and len(rows) < len(some)


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
    rows, together, alone = both(checkpoint, [*off(checkpoint), *of_scores(checkpoint)])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-5)
    assert rows.count(1) >= len(alone)


def test_a_head_that_cannot_be_switched_off_is_refused_beside_the_others(tmp_path: Path) -> None:
    checkpoint = opened("GPT-2", tmp_path)
    output = output_of(checkpoint, TEXT, None)
    there = [(edit,) for edit in heads_off(checkpoint, output)]
    missing = (Edit("head-off", "decoder_self", (0, 99)),)
    results = [*scored(checkpoint, output, [(), *there, missing])]
    assert [bool(each.refused) for each in results] == [False] * (len(there) + 1) + [True]
