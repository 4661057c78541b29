"""The mask of a module of one's own: True at tokens, under a name that the module has."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from transformer import Checkpoint, InputError, decode, from_module, record

LETTERS = "abcdefgh"


class Reader(nn.Module):
    """An encoder, whose mask is True at padding as torch's own are."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table, self.out = nn.Embedding(8, 8), nn.Linear(8, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.inner = nn.TransformerEncoder(layer, 2)

    def forward(self, ids: Tensor, padding: Tensor | None = None) -> Tensor:
        return self.out(self.inner(self.table(ids), src_key_padding_mask=padding))


class Writer(nn.Module):
    """An encoder-decoder with such a mask."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table, self.out = nn.Embedding(8, 8), nn.Linear(8, 8)
        self.inner = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)

    def forward(self, source: Tensor, target: Tensor, padding: Tensor | None = None) -> Tensor:
        both = {"src_key_padding_mask": padding, "memory_key_padding_mask": padding}
        causal = nn.Transformer.generate_square_subsequent_mask(target.size(1))
        inner = self.inner(self.table(source), self.table(target), tgt_mask=causal, **both)
        return self.out(inner)


def ids_of(text: str) -> list[int]:
    return [LETTERS.index(letter) for letter in text]


def made(module: nn.Module, **options: Any) -> Checkpoint:
    ends: dict[str, Any] = {}
    if isinstance(module, Writer):
        ends = {"writes": "target", "start": "a"}
    return from_module(module, ids_of, LETTERS, ["abc"], **ends, **options)


reader, writer = Reader(), Writer()
TURNED: dict[str, tuple[nn.Module, dict[str, Any]]] = {
    "by the module": (reader, {"mask": "padding"}),
    "by run": (reader, {"mask": "mask", "run": lambda ids, mask: reader(ids, mask)}),
    "of a source": (writer, {"mask": "padding"}),
}


@pytest.mark.parametrize("case", TURNED)
def test_a_mask_that_is_true_at_padding_is_refused_each_time(case: str) -> None:
    module, options = TURNED[case]
    checkpoint = made(module, **options)
    target = "bc" if module is writer else None
    for _ in range(2):
        with pytest.raises(InputError, match="takes True as padding"):
            record(checkpoint, "abc", target)
    if module is writer:
        with pytest.raises(InputError, match="takes True as padding"):
            decode(checkpoint, "abc")


@pytest.mark.parametrize("takes_none", [True, False])
def test_a_mask_that_is_turned_round_changes_nothing(takes_none: bool) -> None:
    def run(ids: Tensor, mask: Tensor) -> Tensor:
        return reader(ids, None if takes_none and mask is None else ~mask)  # type: ignore[no-any-return]

    plain = record(made(reader), "abc").attentions["encoder_self"].weights()
    turned = record(made(reader, run=run, mask="mask"), "abc").attentions["encoder_self"]
    torch.testing.assert_close(turned.weights(), plain)


@pytest.mark.parametrize(
    ("module", "options", "names"),
    [
        (reader, {"mask": "msk"}, "padding"),
        (writer, {"mask": "target"}, "padding"),
        (reader, {"mask": "mask", "run": lambda ids: reader(ids)}, "none"),
    ],
)
def test_a_mask_of_a_name_that_is_not_there_is_refused(
    module: nn.Module, options: dict[str, Any], names: str
) -> None:
    with pytest.raises(InputError, match=f"mask.*{names}"):
        made(module, **options)
    made(module, mask="anything", run=lambda *ids, **masks: module(*ids))
    made(module, mask="padding", run=lambda *ids, padding: module(*ids, padding))
