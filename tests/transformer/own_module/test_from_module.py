"""A module of one's own decodes and records like any checkpoint; errors are sentences."""

import logging
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from transformer import (
    Checkpoint,
    CheckpointError,
    InputError,
    decode,
    from_module,
    load_checkpoint,
    record,
)
from transformer.formats import own_module
from transformer.formats.own_module import offer
from transformer.inspection.survey import survey

PIECES = ["<s>", "</s>", *"abcd"]


class Copier(nn.Module):
    """An encoder-decoder of torch's own, that notes how it was called."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(len(PIECES), 8)
        self.inner = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
        self.output = nn.Linear(8, len(PIECES))
        self.batches: list[int] = []

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        self.batches.append(len(target))
        mask = nn.Transformer.generate_square_subsequent_mask(target.size(1))
        x = self.inner(self.embedding(source), self.embedding(target), tgt_mask=mask)
        return self.output(x)


def tokenize(text: str) -> list[int]:
    return [PIECES.index(character) for character in text]


def copier(**changes: Any) -> Checkpoint:
    given = {"writes": "target", "start": "<s>", "end": 1, "max_len": 6} | changes
    return from_module(Copier(), tokenize, PIECES, "abc", **given)


class Generator(nn.Module):
    """Causal, with another W for what it writes; gives the logits of the last place only."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(6, 8)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, ids: Tensor) -> tuple[Tensor, None]:
        x = self.embedding(ids)
        mask = nn.Transformer.generate_square_subsequent_mask(ids.size(1))
        x, _ = self.attention(x, x, x, attn_mask=mask, need_weights=False)
        return (x @ self.embedding.weight.mT)[:, -1:], None


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_an_encoder_decoder_decodes_and_records(method: str) -> None:
    checkpoint = copier()
    decoding = decode(checkpoint, "abc", method=method)
    model: Any = checkpoint.model.get_submodule("inner")
    assert set(model.batches) == {1}  # written for a batch of one
    recording = record(checkpoint, "abc", decoding.target)
    sizes = {
        kind: (len(each.queries), len(each.keys)) for kind, each in recording.attentions.items()
    }
    n = len(decoding.target)
    assert sizes == {"encoder_self": (3, 3), "decoder_self": (n, n), "cross": (n, 3)}
    assert [token.piece for token in recording.attentions["cross"].keys] == ["a", "b", "c"]
    assert recording.attentions["cross"].queries[0].piece == "<s>"
    assert recording.checked.is_right and recording.checked.error is not None
    written = torch.tensor([token.id for token in decoding.target])
    log_probs = recording.logits.log_softmax(-1)[range(n), written]
    torch.testing.assert_close(float(log_probs.sum()), decoding.hypotheses[0].log_prob)


def test_training_mode_is_told() -> None:
    checkpoint = copier()
    target = decode(checkpoint, "abc").target
    assert not record(checkpoint, "abc", target).notes
    checkpoint.model.train()
    (note,) = record(checkpoint, "abc", target).notes
    assert "training mode" in note and "Copier" in note


class BothWays(nn.Module):
    """Layers that read the text from its start and from its end."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = nn.Embedding(len(PIECES), 8)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(8, 2, 16, batch_first=True) for _ in range(2)
        )

    def forward(self, ids: Tensor) -> Tensor:
        ends = self.embedding(ids), self.embedding(ids.flip(1))
        for layer in self.layers:
            ends = layer(ends[0]), layer(ends[1])
        return sum(ends).mean(1)  # type: ignore[union-attr]


def test_a_module_that_reads_a_text_twice_is_edited_where_it_was_recorded() -> None:
    checkpoint = from_module(BothWays().eval(), tokenize, PIECES, "abc")
    plain = record(checkpoint, "abc")
    assert plain.attentions["encoder_self"].n_layers == 2 and len(plain.attentions) == 2
    assert len(plain.notes) == 2 and plain.checked.is_right
    edited = record(checkpoint, "abc", edits=["head-off:encoder_self.1.0"])
    assert list(edited.attentions) == list(plain.attentions)
    before, after = (it.attentions["encoder_self"].calls for it in (plain, edited))
    torch.testing.assert_close(before[0].heads_given(), after[0].heads_given())
    assert not bool(after[1].heads_given()[0].any())
    assert not torch.equal(plain.logits, edited.logits)


def test_greedy_is_the_argmax_of_its_own_forward() -> None:
    checkpoint = copier(end=None)
    decoding = decode(checkpoint, "abcd")
    model = checkpoint.model.get_submodule("inner")
    read = [0]
    for _ in range(4):
        read.append(int(model(torch.tensor([[2, 3, 4, 5]]), torch.tensor([read]))[0, -1].argmax()))
    assert [token.id for token in decoding.target] == read[1:]


def test_a_generator_may_give_the_last_logits_only() -> None:
    checkpoint = from_module(Generator(), tokenize, PIECES, "ab", writes="continuation", max_len=8)
    decoding = decode(checkpoint, "ab")
    assert len(decoding.target) == 7  # what is written last is never read
    forced = decode(checkpoint, "ab", method="forced", target=decoding.target)
    assert forced.hypotheses[0].log_prob == pytest.approx(decoding.hypotheses[0].log_prob, abs=1e-5)
    recording = record(checkpoint, "ab", decoding.target)
    assert list(recording.attentions) == ["decoder_self"] and recording.n_prompt == 2


def test_what_reads_only_is_called_by_its_attention_and_may_classify() -> None:
    module = nn.TransformerEncoderLayer(6, 2, 8, batch_first=True)
    checkpoint = from_module(
        module,
        tokenize,
        PIECES,
        "abc",
        run=lambda ids: module(nn.functional.one_hot(ids, 6).float())[:, 0, :2],
        classes=("no", "yes"),
    )
    recording = record(checkpoint, "dcba")
    assert list(recording.attentions) == ["encoder_self"]
    assert recording.classification is not None
    assert recording.classification.probs.sum() == pytest.approx(1)
    assert not module.training
    with pytest.raises(InputError, match="writes nothing"):
        decode(checkpoint, "abc")


def test_two_vocabularies_and_dicts_of_pieces() -> None:
    checkpoint = copier(
        target_pieces={"<s>": 0, "</s>": 1, "eins": 2, "zwei": 3, "drei": 5}, start=0, end="</s>"
    )
    assert checkpoint.config.vocab_size == 6
    assert checkpoint.tokenizer.decode([0, 2, 3, 4, 1]) == "eins zwei <4>"
    recording = record(checkpoint, "ab", decode(checkpoint, "ab").target)
    assert [token.piece for token in recording.source] == ["a", "b"]


def test_weights_can_be_trained_after_it_was_looked_at() -> None:
    class Keeps(Copier):
        def forward(self, source: Tensor, target: Tensor) -> Tensor:
            self.memory = self.embedding(source)  # kept in the module, as hand-written caches are
            return super().forward(source, target)

    module = Keeps()
    checkpoint = from_module(
        module, tokenize, PIECES, "abc", writes="target", start="<s>", end="</s>", max_len=6
    )
    decode(checkpoint, "abc")
    (module.output(module.memory).sum() + module(*[torch.tensor([[2]])] * 2).sum()).backward()
    assert module.output.weight.grad is not None


def refused(checkpoint: Checkpoint, text: str = "abc") -> str:
    with pytest.raises(InputError) as caught:
        decode(checkpoint, text)
    said = str(caught.value)
    assert said.endswith(".") and "\n" not in said and "Traceback" not in said
    return said


def test_errors_of_ones_own_functions_name_function_file_and_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    line = tokenize.__code__.co_firstlineno + 1
    said = refused(copier(), "abx")
    assert said.startswith(f"tokenize failed at line {line} of test_from_module.py: ValueError: ")
    assert "Traceback" in caplog.text or caplog.records[-1].exc_info

    def broken(source: Tensor, target: Tensor) -> Tensor:
        return nn.Embedding(2, 2)(source)

    with caplog.at_level(logging.CRITICAL):
        where = f"line {broken.__code__.co_firstlineno + 1} of test_from_module.py"
        assert refused(copier(run=broken)) == (
            f"run failed in broken at {where}: IndexError: index out of range in self."
        )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"run": lambda source, target: "text"}, "it gave str."),
        ({"run": lambda source, target: torch.zeros(1, 1, 5)}, "[1, T, 6], a column for each"),
        ({"run": lambda source, target: None}, "it gave NoneType."),
    ],
)
def test_what_are_no_logits_is_said(changes: dict[str, Any], said: str) -> None:
    assert said in refused(copier(**changes))


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ({"input_ids": [1]}, "it gave dict."),
        (torch.zeros(2, 3), "it gave a tensor [2, 3] of float32."),
        ([2, 6], "tokenize gave the id 6, and the pieces have names from 0 to 5."),
        ([], "holds nothing that the model can read"),
        (torch.tensor([[2] * 9]), "has 9 tokens; Copier takes at most 6."),
    ],
)
def test_what_are_no_ids_is_said(ids: Any, said: str) -> None:
    checkpoint = from_module(
        Copier(), lambda text: ids, PIECES, "abc", writes="target", start=0, max_len=6
    )
    assert said in refused(checkpoint)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"start": None}, "needs start"),
        ({"start": "<begin>"}, "no piece '<begin>'"),
        ({"end": 6}, "no token 6"),
        ({"writes": "nothing"}, "no other module has one"),
        ({"writes": "text"}, "writes must be one of 'nothing', 'continuation', 'target'"),
    ],
)
def test_what_does_not_go_together_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        copier(**changes)


def test_only_what_was_offered_opens_and_inspects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_module, "_OFFERED", {})
    checkpoint = copier()
    with pytest.raises(CheckpointError, match="is not there"):
        load_checkpoint(checkpoint.path)
    first, second = offer(checkpoint), offer(checkpoint)
    assert (first.name, second.name) == ("Copier", "Copier 2")
    assert load_checkpoint(second).model is checkpoint.model
    found = survey(first)
    module = checkpoint.model.get_submodule("inner")
    assert found.n_parameters == sum(each.numel() for each in module.parameters())
    assert found.findings == [] or all("0" in each.problem for each in found.findings)


@pytest.mark.parametrize("pieces", [set(PIECES), frozenset(PIECES), 5, {"a": "b"}, {-1: "a"}])
def test_pieces_without_ids(pieces: Any) -> None:
    """A set has another order in every process: its names would be of other ids."""
    with pytest.raises(InputError, match=r"^pieces must"):
        from_module(nn.Linear(1, 1), ord, pieces, "a")


def test_ids_of_numpy_name_pieces_too() -> None:
    ids = {np.int64(i): piece for i, piece in enumerate(PIECES)}
    for pieces in (ids, {piece: id for id, piece in ids.items()}):
        checkpoint = from_module(nn.Linear(1, 1), ord, pieces, "a")
        names = [checkpoint.tokenizer.token(i).piece for i in range(len(PIECES))]
        assert names == list(PIECES)
