"""Surveys of modules of one's own read texts in batches where these are right, else one by one."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from transformer import Checkpoint, from_module, record
from transformer.analysis.ablation import heads_off, sweep
from transformer.analysis.scored import Group, output_of, scored
from transformer.corpus.survey import Surveyor
from transformer.corpus.targets import judged_targets, takes_batches
from transformer.edits.edit import Edit

pytestmark = pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
PIECES = ["<s>", "</s>", *"abcdefgh", "<pad>"]
WRITTEN = [*"xyz", "<s>", "</s>"]
LINES = {n: "abcdefgh"[: 1 + 3 * n % 8] * (1 + n % 3) for n in range(1, 20)}


def tokenize(text: str) -> list[int]:
    return [PIECES.index(each) for each in text]


class Reader(nn.Module):
    """Layers of torch's own over the tokens that a mask leaves, or none."""

    def __init__(self, is_causal: bool = False) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.is_causal = is_causal
        self.embedding = nn.Embedding(len(PIECES), 8)
        self.positions = nn.Parameter(torch.randn(256, 8))
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(8, 2, 16, batch_first=True) for _ in range(2)
        )
        self.batches = set[int]()

    def forward(self, ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        self.batches.add(len(ids))
        x = self.embedding(ids) + self.positions[: ids.size(1)]
        n = ids.size(1)
        later = torch.ones(n, n, dtype=torch.bool).triu(1) if self.is_causal else None
        padding = None if attention_mask is None else ~attention_mask
        for layer in self.layers:
            x = layer(x, src_mask=later, src_key_padding_mask=padding)
        return x @ self.embedding.weight.mT


class ByItself(Reader):
    """Its mask is made of its ids."""

    def forward(self, ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return super().forward(ids, ids != len(PIECES) - 1)


class Turned(Reader):
    """It takes a mask for the opposite."""

    def forward(self, ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        return super().forward(ids, None if attention_mask is None else ~attention_mask)


class Sorted(Reader):
    """It reads its tokens in another order, padding last."""

    def forward(self, ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        order = (-ids).masked_fill(ids == len(PIECES) - 1, 1).argsort(-1)
        mask = None if attention_mask is None else attention_mask.gather(1, order)
        return super().forward(ids.gather(1, order), mask)


class Picky(Reader):
    """It refuses a text."""

    def forward(self, ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        if bool(((ids[:, 1:] == ids[:, :-1]) & (ids[:, 1:] == 3)).any()):
            raise ValueError("twice b")
        return super().forward(ids, attention_mask)


class Translator(nn.Module):
    """An encoder-decoder of two vocabularies, that is told of padding."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.read, self.written = nn.Embedding(len(PIECES), 8), nn.Embedding(len(WRITTEN), 8)
        self.inner = nn.Transformer(8, 2, 2, 2, 16, batch_first=True)
        self.output = nn.Linear(8, len(WRITTEN))
        self.batches = set[int]()

    def forward(self, source: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
        self.batches.add(len(source))
        later = torch.ones(target.size(1), target.size(1), dtype=torch.bool).triu(1)
        padding = None if mask is None else ~mask
        x = self.inner(
            self.read(source),
            self.written(target),
            tgt_mask=later,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
        )
        return self.output(x)


GOES: dict[str, Any] = {"writes": "continuation"}
WRITES: dict[str, Any] = {
    "writes": "target",
    "target_pieces": WRITTEN,
    "target_tokenize": lambda text: [WRITTEN.index(each) for each in text],
    "start": "<s>",
    "end": "</s>",
}
MASK: dict[str, Any] = {"mask": "attention_mask"}
PAD: dict[str, Any] = {"pad": "<pad>"}


def made(module: nn.Module, **given: Any) -> Checkpoint:
    return from_module(module, tokenize, PIECES, "abc", max_len=60, **given)


CASES = {
    "encoder": (Reader(), {}, MASK),
    "knows padding by its id": (ByItself(), {}, PAD),
    "generator": (Reader(is_causal=True), GOES, MASK),
    "generator without a mask": (Reader(is_causal=True), GOES, PAD),
    "translator": (Translator(), WRITES, {"mask": "mask"}),
}


@pytest.mark.parametrize("name", CASES)
def test_a_batch_says_what_each_text_says_by_itself(name: str) -> None:
    module, of_family, told = CASES[name]
    lines = {n: f"{text}\t{'xyzzy'[: 1 + n % 4]}" for n, text in LINES.items()}
    lines = lines if of_family is WRITES else LINES
    alone, together = (Surveyor(made(module, **of_family, **it)) for it in ({}, told))
    assert alone.why_alone and not together.why_alone
    module.batches.clear()
    expected = alone.survey(lines)
    assert module.batches == {1}
    module.batches.clear()
    result = together.survey(lines)
    assert 1 not in module.batches and not result.left_out
    assert len(result.heads) == len(expected.heads) >= len(lines)
    for one, other in zip(result.heads, expected.heads, strict=True):
        assert (one.sentence, one.kind, one.queries) == (
            other.sentence,
            other.kind,
            other.queries,
        )
        assert one.keys == other.keys and one.names == other.names
        np.testing.assert_allclose(one.numbers, other.numbers, atol=1e-5)
        np.testing.assert_allclose(one.footprint, other.footprint, atol=1e-5)
        np.testing.assert_allclose(one.peaks, other.peaks, atol=1e-5)


@pytest.mark.parametrize(
    ("module", "told", "why"),
    [
        (Reader(), {}, "takes no mask of padding"),
        (Reader(), PAD, "other weights"),
        (Sorted(), MASK | PAD, "other tokens"),
        (Turned(), MASK, "takes True as padding"),
    ],
)
def test_what_is_not_right_in_a_batch_is_read_one_by_one(
    module: nn.Module, told: dict[str, Any], why: str
) -> None:
    assert why in Surveyor(made(module, **told)).why_alone


def test_a_text_that_is_refused_leaves_the_others_of_its_batch() -> None:
    portion = Surveyor(made(Picky(), **MASK)).survey({1: "abc", 2: "abb", 3: "abcd"})
    assert [reason.partition(":")[0] for reason in portion.left_out] == ["line 2 is left out"]
    assert {each.sentence for each in portion.heads} == {1, 3}


def test_targets_are_written_together_where_each_is_what_it_is_alone() -> None:
    module = Translator()
    told, alone = made(module, **WRITES, mask="mask"), made(module, **WRITES)
    texts = [*LINES.values()][:5]
    expected = judged_targets(alone, texts)
    assert not takes_batches(alone) and takes_batches(told)
    module.batches.clear()
    assert judged_targets(told, texts) == expected
    assert len(texts) in module.batches


def test_targets_are_written_one_by_one_where_padding_is_read() -> None:
    class Deaf(Translator):
        def forward(self, source: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
            return super().forward(source, target)

    module, texts = Deaf(), ["abc", "a"]
    told, alone = made(module, **WRITES, mask="mask"), made(module, **WRITES)
    assert not takes_batches(told)
    module.batches.clear()
    assert judged_targets(told, texts) == judged_targets(alone, texts)
    assert module.batches == {1}


OF_MODULES: dict[str, tuple[Any, dict[str, Any], str | None]] = {
    "encoder": (Reader(), MASK, None),
    "generator": (Reader(is_causal=True), GOES | MASK, None),
    "translator": (Translator(), WRITES | {"mask": "mask"}, "xyzzy"),
}


@pytest.mark.parametrize("name", OF_MODULES)
def test_edits_run_in_the_rows_of_a_batch(name: str) -> None:
    module, told, target = OF_MODULES[name]
    checkpoint = made(module, **told)
    written = None if target is None else record(checkpoint, "abcdefgh", target).target
    output = output_of(checkpoint, "abcdefgh", written)
    kind = next(iter(record(checkpoint, "abcdefgh", written).attentions))
    groups: list[Group] = [(), *((edit,) for edit in heads_off(checkpoint, output)[-5:])]
    groups += [(Edit("cut", kind, (1, 1, 7, i)),) for i in range(3)]
    alone = torch.cat([it.log_probs for it in scored(checkpoint, output, groups, in_batches=False)])
    module.batches.clear()
    together = torch.cat([it.log_probs for it in scored(checkpoint, output, groups)])
    torch.testing.assert_close(together, alone, rtol=1e-5, atol=1e-5)
    assert len(groups) in module.batches


class Mixing(Reader):
    """Rows of a batch are told from their mean."""

    def forward(self, ids: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        logits = super().forward(ids, attention_mask)
        return logits - logits.mean(0) * (len(ids) > 1)


class Silent(Reader):
    """Of several rows it gives nothing."""

    def forward(self, ids: Tensor, attention_mask: Tensor | None = None) -> Any:
        logits = super().forward(ids, attention_mask)
        return logits if len(ids) == 1 else None


@pytest.mark.parametrize("style", [Mixing, Silent])
def test_edits_run_one_by_one_where_rows_are_not_what_they_are_alone(style: type[Reader]) -> None:
    told, alone = (made(style(is_causal=True), **GOES, **it) for it in (MASK, {}))
    torch.testing.assert_close(sweep(told, "abcdef").changes, sweep(alone, "abcdef").changes)
