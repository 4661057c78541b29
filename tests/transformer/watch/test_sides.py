"""Rows and columns are named by the tokens that they are, and numbered where that is not known."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from tests.transformer.watch.layers import D, Projected, split
from transformer import InputError, Recording, record

TEXT, OTHER = list("abcdef"), list("wxyz")


class Reading(Projected):
    """Reads itself, or another sequence, or both: a memory beside its own words."""

    def forward(
        self, x: Tensor, read: Tensor | None = None, is_open: Tensor | None = None
    ) -> Tensor:
        read = x if read is None else read
        scores = split(self.q(x)) @ split(self.k(read)).mT
        if is_open is not None:
            scores = scores.masked_fill(is_open == 0, -torch.inf)
        weights = scores.softmax(-1)
        return self.out((weights @ split(self.v(read))).transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]


class Parts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.one, self.two = Reading(), Reading()
        self.words, self.memory = nn.Embedding(9, D), nn.Parameter(torch.randn(1, 4, D))
        self.down = nn.Linear(2 * D, D)


class Halved(Parts):
    """Two positions become one after the first layer."""

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids)
        x = x + self.one(x)
        x = self.down(x.reshape(1, -1, 2 * D))
        return x + self.two(x)  # type: ignore[no-any-return]


class Both(Parts):
    """Two texts read each other."""

    def forward(self, ids: Tensor, others: Tensor) -> Tensor:
        x, y = self.words(ids), self.words(others)
        return (x + self.one(x, y)).sum(1) + (y + self.two(y, x)).sum(1)  # type: ignore[no-any-return]


class Latent(Parts):
    """A Perceiver: states of its own read the text, and then themselves."""

    def forward(self, ids: Tensor) -> Tensor:
        x = self.memory + self.one(self.memory, self.words(ids))
        return x + self.two(x)  # type: ignore[no-any-return]


class Remembering(Parts):
    """Keys of a memory stand before those of the words, which read no later one."""

    def forward(self, ids: Tensor) -> Tensor:
        x = self.words(ids)
        is_open = torch.ones(x.size(1), x.size(1) + 4).tril(4)
        return x + self.one(x, torch.cat([self.memory, x], 1), is_open)  # type: ignore[no-any-return]


def recorded(
    model: nn.Module, *lengths: int, tokens: Sequence[str] | Mapping[str, Sequence[str]]
) -> Recording:
    texts = [torch.arange(i, i + length)[None] for i, length in enumerate(lengths)]
    recording = record(model.eval(), tuple(texts), tokens)
    assert recording.checked.is_right
    return recording


def pieces(recording: Recording) -> list[tuple[str, str]]:
    return [
        tuple("".join(each.piece for each in side) for side in (it.queries, it.keys))
        for it in recording.attentions.values()
    ]  # type: ignore[return-value]


def test_what_an_encoder_has_shortened_is_numbered() -> None:
    recording = recorded(Halved(), 6, tokens=TEXT)
    assert pieces(recording) == [("abcdef", "abcdef"), ("012", "012")]


@pytest.mark.parametrize("other", [OTHER, list("uvwxyz")])
def test_two_texts_that_read_each_other_keep_their_names(other: list[str]) -> None:
    tokens = {"target": TEXT, "source": other}
    recording = recorded(Both(), 6, len(other), tokens=tokens)
    assert pieces(recording) == [("abcdef", "".join(other)), ("".join(other), "abcdef")]


def test_latents_that_read_a_text_do_not_take_its_names() -> None:
    recording = recorded(Latent(), 6, tokens=TEXT)
    assert sorted(pieces(recording)) == [("0123", "0123"), ("0123", "abcdef")]


def test_keys_of_a_memory_make_no_causal_attention_wrong() -> None:
    recording = record(Remembering().eval(), torch.arange(6)[None], TEXT)
    (attention,) = recording.attentions.values()
    assert attention.role == "decoder_self" and recording.checked.is_right is not False
    assert [each.piece for each in attention.keys] == ["unnamed"] * 4 + TEXT


class Listed(Parts):
    """The same from one list, as layers are kept: no heads of one layer."""

    def __init__(self) -> None:
        super().__init__()
        self.both = nn.ModuleList([self.one, self.two])

    def forward(self, ids: Tensor, others: Tensor) -> Tensor:
        x, y = self.words(ids), self.words(others)
        return (x + self.both[0](x, y)).sum(1) + (y + self.both[1](y, x)).sum(1)  # type: ignore[no-any-return]


def test_two_texts_that_read_each_other_by_layers_of_a_list_are_not_heads() -> None:
    tokens = {"target": TEXT, "source": list("uvwxyz")}
    recording = recorded(Listed(), 6, 6, tokens=tokens)
    assert pieces(recording) == [("abcdef", "uvwxyz"), ("uvwxyz", "abcdef")]


def test_a_softmax_has_the_tokens_of_what_it_became() -> None:
    class Sharper(Reading):
        def forward(
            self, x: Tensor, read: Tensor | None = None, is_open: Tensor | None = None
        ) -> Tensor:
            assert read is not None
            weights = (split(self.q(x)) @ split(self.k(read)).mT).softmax(-1) ** 2
            heads = weights @ split(self.v(read))
            return self.out(heads.transpose(1, 2).flatten(-2))  # type: ignore[no-any-return]

    model = Both()
    model.one, model.two = Sharper(), Reading()
    tokens = {"target": TEXT, "source": OTHER}
    recording = record(model.eval(), (torch.arange(6)[None], torch.arange(1, 5)[None]), tokens)
    named = {
        name: "".join(it.piece for it in each.keys) for name, each in recording.attentions.items()
    }
    assert named["cross"] == named["cross softmax"] == "wxyz"


@pytest.mark.parametrize("strange", [None, 3, ["b"]])
def test_a_token_that_is_no_string(strange: Any) -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    with pytest.raises(InputError, match="in strings, not"):
        record(layer, torch.rand(1, 3, 8), ["a", strange, "c"])
