"""A model that reads several texts in one forward: each is apart, and no layer is counted twice."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
import transformers as T
from torch import Tensor, nn

from transformer import record

IDS = torch.tensor([[4, 5, 6, 7, 8]])
SIZES = {"vocab_size": 64, "hidden_size": 32, "num_hidden_layers": 2, "intermediate_size": 32}


def bert() -> nn.Module:
    return T.BertModel(T.BertConfig(num_attention_heads=4, **SIZES))


def gpt() -> nn.Module:
    return T.GPT2LMHeadModel(T.GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4))


def marian() -> nn.Module:
    sizes: dict[str, Any] = dict.fromkeys(("encoder_layers", "decoder_layers"), 2)
    heads: dict[str, Any] = dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), 4)
    return T.MarianMTModel(
        T.MarianConfig(
            vocab_size=64, d_model=32, **sizes, **heads, encoder_ffn_dim=32, decoder_ffn_dim=32,
            pad_token_id=63, eos_token_id=62, decoder_start_token_id=63,
        )
    )  # fmt: skip


def vit() -> nn.Module:
    sizes: dict[str, Any] = {"image_size": 8, "patch_size": 4, "num_attention_heads": 4}
    return T.ViTModel(T.ViTConfig(**sizes, **{k: v for k, v in SIZES.items() if k != "vocab_size"}))


class Pair(nn.Module):
    """Two texts through one encoder."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return self.model(a)[0].mean(1) + self.model(b)[0].mean(1)  # type: ignore[no-any-return]


class Named(Pair):
    """The mask comes before what it masks."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        mask = torch.ones_like(a)
        for ids in (a, b):
            result = self.model(attention_mask=mask, input_ids=ids)[0]
        return result  # type: ignore[no-any-return]


class Writes(nn.Module):
    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, ids: Tensor) -> Tensor:
        written = {"max_new_tokens": 4, "min_new_tokens": 4, "do_sample": False, "num_beams": 1}
        return self.model.generate(ids, **written)  # type: ignore[no-any-return, operator]


class Again(nn.Module):
    """One block over what it gave: so many layers."""

    def __init__(self, block: nn.Module) -> None:
        super().__init__()
        self.embedding, self.steps = nn.Embedding(64, 32), nn.Embedding(3, 32)
        self.block = block

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        for step in range(3):
            x = self.block(x + self.steps(torch.tensor([step])))
        return x  # type: ignore[no-any-return]


PICTURE = torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(1))
MODELS: list[tuple[Callable[[], nn.Module], tuple[Tensor, ...], int]] = [
    (lambda: Pair(bert()), (IDS, IDS.flip(1)), 2),
    (lambda: Pair(bert()), (IDS, IDS), 2),
    (lambda: Named(bert()), (IDS, IDS.flip(1)), 2),
    (lambda: Pair(vit()), (PICTURE, PICTURE.flip(2)), 2),
    (lambda: Writes(gpt()), (IDS,), 4),
    (lambda: Writes(marian()), (IDS,), 4),
]


@pytest.mark.parametrize(("make", "inputs", "n_passes"), MODELS)
def test_passes_are_apart_and_named(
    make: Callable[[], nn.Module], inputs: tuple[Tensor, ...], n_passes: int
) -> None:
    recording = record(make().eval(), inputs)
    assert {each.n_layers for each in recording.attentions.values()} == {2}
    passes = [it for it in recording.attentions if " pass " in it]
    assert {int(it.split(" pass ")[1].split()[0]) for it in passes} == set(range(2, n_passes + 1))
    assert all(recording.attentions[it].role is None for it in passes)
    assert any(str(n_passes) in note for note in recording.notes)
    checked = recording.checked  # a pass of one token may show of none what it is made of
    assert checked.is_right is (None if checked.unproven else True)


def test_words_are_those_of_the_first_text() -> None:
    recording = record(Pair(bert()).eval(), (IDS, IDS.flip(1)), list("abcde"))
    first, other = recording.attentions.values()
    assert [each.piece for each in first.keys] == list("abcde")
    assert [each.piece for each in other.keys] == list("01234")


def test_a_block_that_runs_again_is_several_layers() -> None:
    block = nn.TransformerEncoderLayer(32, 4, 32, batch_first=True)
    recording = record(Again(block).eval(), (IDS,))
    assert {it: each.n_layers for it, each in recording.attentions.items()} == {"encoder_self": 3}
    assert not recording.notes


class Rounds(nn.Module):
    """Layers that run several times; how is what its kinds are about."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.embedding = nn.Embedding(64, 32)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(32, 4, 32, batch_first=True) for _ in range(2)
        )

    def run(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class LayerByLayer(Rounds):
    """Each layer over both texts before the next one."""

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        x, y = self.embedding(a), self.embedding(b)
        for layer in self.layers:
            x, y = layer(x), layer(y)
        return x.mean(1) + y.mean(1)  # type: ignore[no-any-return]


class BothWays(Rounds):
    """One text, from its start and from its end."""

    def forward(self, ids: Tensor) -> Tensor:
        return self.run(self.embedding(ids)) + self.run(self.embedding(ids.flip(1))).flip(1)


class Deeper(Rounds):
    """Over what was given before, beside the words again: more layers."""

    def forward(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids)
        for _ in range(3):
            x = self.run(x + self.embedding(ids))
        return x


class OneForBoth(Rounds):
    """A decoder that has the layers of its encoder."""

    def __init__(self) -> None:
        super().__init__()
        self.cross = nn.ModuleList(nn.MultiheadAttention(32, 4, batch_first=True) for _ in range(2))

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        x, y = self.run(self.embedding(a)), self.embedding(b)
        mask = nn.Transformer.generate_square_subsequent_mask(b.size(1))
        for layer, cross in zip(self.layers, self.cross, strict=True):
            y = layer(y, mask)
            y = y + cross(y, x, x, need_weights=False)[0]
        return y


@pytest.mark.parametrize(
    ("style", "inputs", "layers"),
    [
        (LayerByLayer, (IDS, IDS.flip(1)), [2, 2]),
        (LayerByLayer, (IDS, IDS[:, :3]), [2, 2]),
        (BothWays, (IDS,), [2, 2]),
        (Deeper, (IDS,), [6]),
        (OneForBoth, (IDS, IDS.flip(1)), [2, 2, 2]),
    ],
)
def test_what_runs_descend_from_tells_layers_from_texts(
    style: type[nn.Module], inputs: tuple[Tensor, ...], layers: list[int]
) -> None:
    recording = record(style().eval(), inputs)
    assert [each.n_layers for each in recording.attentions.values()] == layers
    assert sum("in this pass" in note for note in recording.notes) == int(layers == [2, 2])
    assert recording.checked.is_right
    first = next(iter(recording.attentions.values()))
    assert first.role == "encoder_self" and len(first.queries) == 5
