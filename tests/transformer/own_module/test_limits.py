"""What a module of one's own does that no other does: it looks at itself, it ends, it is short."""

import pytest
import torch
from torch import Tensor, nn

from transformer import Checkpoint, InputError, decode, from_module, record
from viz.components.decode_player.decode_player import DecodePlayer
from viz.components.kit.browser import unpack

LETTERS = "abcdefgh"


class WithMemory(nn.Module):
    """A decoder whose cross-attention is over three vectors of its own, for 16 tokens at most."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.table, self.place = nn.Embedding(8, 16), nn.Parameter(torch.randn(16, 16))
        self.memory = nn.Parameter(torch.randn(1, 3, 16))
        layer = nn.TransformerDecoderLayer(16, 2, 32, batch_first=True)
        self.decoder, self.out = nn.TransformerDecoder(layer, 2), nn.Linear(16, 8)

    def forward(self, ids: Tensor) -> Tensor:
        n = ids.size(1)
        mask = nn.Transformer.generate_square_subsequent_mask(n)
        read = self.table(ids) + self.place[:n]
        return self.out(self.decoder(read, self.memory, tgt_mask=mask))


def ids_of(text: str) -> list[int]:
    return [LETTERS.index(letter) for letter in text]


def checkpoint(max_len: int = 16) -> Checkpoint:
    said = {"writes": "continuation", "max_len": max_len}
    return from_module(WithMemory(), ids_of, LETTERS, ["abc"], **said)  # type: ignore[arg-type]


@pytest.mark.parametrize("prompt", ["abc", "abcde"])
def test_a_memory_of_its_own_is_not_named_by_the_text(prompt: str) -> None:
    made = checkpoint()
    decoding = decode(made, prompt, max_len=4)
    for target in (None, decoding.target):
        recording = record(made, prompt, target)
        cross = recording.attentions["cross"]
        assert [token.piece for token in cross.keys] == ["0", "1", "2"]
        assert [token.piece for token in cross.queries][: len(prompt)] == list(prompt)
    header, arrays = unpack(DecodePlayer().payload(recording, decoding))
    assert header["source"] == [] and len(arrays) == 1  # what is written looks at itself alone
    assert [token.piece for token in recording.source] == list(prompt)


def test_too_long_a_text_is_told_of_max_len() -> None:
    made = checkpoint(max_len=256)
    assert decode(made, "abc", max_len=4).target
    cut = decode(made, "abc")
    assert "given 17 tokens: if it takes fewer, say so by max_len" in cut.ended_by
    assert len(cut.target) == 14 and not cut.is_ended
    assert len(decode(checkpoint(), "abc", method="greedy").target) == 14


def test_a_function_that_ends_the_program_ends_in_a_sentence() -> None:
    def leave(text: str) -> list[int]:
        raise SystemExit(3)

    made = from_module(WithMemory(), leave, LETTERS, ["abc"])
    with pytest.raises(InputError, match=r"tokenize failed in leave at line .*SystemExit: 3"):
        record(made, "abc")


def test_pieces_that_name_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="range"):
        from_module(WithMemory(), ids_of, [], ["abc"])
