"""Texts that a module of one's own writes are split by its author's function or tokenizer."""

from collections.abc import Callable
from typing import Any

import pytest
import tokenizers
import torch
from tokenizers import models, pre_tokenizers, processors
from torch import Tensor, nn
from transformers import (
    BatchEncoding,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

from transformer import (
    Checkpoint,
    CheckpointError,
    InputError,
    decode,
    evidence,
    from_module,
    load_checkpoint,
    record,
    survey,
)
from transformer.causes.contrast import contrast
from transformer.causes.pruning import reference

READ = ["<pad>", *"abcd"]
WRITTEN = ["<s>", "</s>", "eins", "zwei", "drei", "vier", "fünf"]


class Writer(nn.Module):
    """An encoder-decoder of two vocabularies."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.read, self.written = nn.Embedding(5, 8), nn.Embedding(7, 8)
        self.inner = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
        self.output = nn.Linear(8, 7)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(target.size(1))
        return self.output(self.inner(self.read(source), self.written(target), tgt_mask=mask))


def library(pieces: list[str], start: str = "", end: str = "") -> tokenizers.Tokenizer:
    """A tokenizer of the library, of words, which puts these around a text."""
    made = tokenizers.Tokenizer(models.WordLevel({it: id for id, it in enumerate(pieces)}, "a"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if start:
        both = [(it, pieces.index(it)) for it in (start, end)]
        made.post_processor = processors.TemplateProcessing(f"{start} $A {end}", None, both)
        made.add_special_tokens([start, end])
    return made


def words_to_ids(text: str) -> list[int]:
    return [WRITTEN.index(word) for word in text.split()]


def ids(text: str) -> list[int]:
    return [READ.index(each) for each in text.split()]


def of_functions() -> Checkpoint:
    more: dict[str, Any] = {"target_tokenize": words_to_ids, "target_pieces": WRITTEN}
    ends = {"writes": "target", "start": "<s>", "end": "</s>", "pad": None}
    return from_module(Writer(), ids, READ, "a b c", **more, **ends)


def of_tokenizers() -> Checkpoint:
    target = library(WRITTEN, "<s>", "</s>")
    ends: dict[str, Any] = {"writes": "target", "start": "<s>", "end": "</s>"}
    return from_module(Writer(), library(READ), examples=["a b c"], target_tokenize=target, **ends)


def of_transformers() -> Checkpoint:
    def wrapped(inner: tokenizers.Tokenizer) -> Any:
        return PreTrainedTokenizerFast(tokenizer_object=inner)  # type: ignore[no-untyped-call]

    ends: dict[str, Any] = {"writes": "target", "start": "<s>", "end": "</s>"}
    target = wrapped(library(WRITTEN, "<s>", "</s>"))
    return from_module(
        Writer(), wrapped(library(READ)), examples="a b c", target_tokenize=target, **ends
    )


@pytest.mark.parametrize("made", [of_functions, of_tokenizers, of_transformers])
def test_a_target_of_text_is_the_target_of_its_tokens(made: Callable[[], Checkpoint]) -> None:
    checkpoint = made()
    text = "drei eins zwei"
    tokens = [*map(checkpoint.tokenizer.token, (4, 2, 3, 1))]
    recording = record(checkpoint, "a b", text)
    assert list(recording.target) == tokens and recording.checked.is_right
    assert [token.piece for token in recording.source] == ["a", "b"]
    assert torch.equal(recording.logits, record(checkpoint, "a b", tokens).logits)

    begun = decode(checkpoint, "a b", prefix="fünf vier")
    assert [token.id for token in begun.target][:2] == [6, 5]
    forced = decode(checkpoint, "a b", method="beam", force=["zwei drei"]).text
    assert "zwei drei" in forced
    with pytest.raises(InputError, match="forbidden"):
        decode(checkpoint, "a b", prefix="fünf vier", forbid=["vier"])

    assert evidence(checkpoint, "a b", text).target_words[:3] == ("drei", "eins", "zwei")
    assert reference(checkpoint, "a b", text).tokens == recording.target
    other = contrast(checkpoint, "a b", recording.target, 0, "vier")
    assert [piece.token.id for piece in other.pieces] == [5]
    surveys = [survey(checkpoint, ["a b", "c"], both) for both in ([text, "vier"], None)]
    assert all(each.n_sentences == 2 for each in surveys)


def test_one_vocabulary_splits_both() -> None:
    """A continuation has no special tokens within, though its tokenizer puts them around a text."""

    class Goes(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            torch.manual_seed(0)
            self.embedding = nn.Embedding(7, 8)
            self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

        def forward(self, ids: Tensor) -> Tensor:
            mask = nn.Transformer.generate_square_subsequent_mask(ids.size(1))
            x = self.layer(self.embedding(ids), src_mask=mask)
            return x @ self.embedding.weight.mT

    def with_start(text: str) -> list[int]:
        return [0, *words_to_ids(text)]

    both = library(WRITTEN, "<s>", "</s>")
    for split, more in ((with_start, {"pieces": WRITTEN, "end": 1}), (both, {})):
        given: dict[str, Any] = {"examples": "eins", "writes": "continuation"}
        checkpoint = from_module(Goes(), split, **more, **given)
        recording = record(checkpoint, "eins zwei", "drei vier")
        assert [token.piece for token in recording.target] == ["drei", "vier"]
        assert [token.id for token in recording.source][:3] == [0, 2, 3]
        assert [it.id for it in decode(checkpoint, "eins", prefix="vier").target][:1] == [5]


def test_a_function_may_give_what_the_libraries_give() -> None:
    split, given = library(READ), {"writes": "target", "start": "<s>", "target_pieces": WRITTEN}
    every = (
        split.encode,
        lambda text: BatchEncoding({"input_ids": torch.tensor([split.encode(text).ids])}),
    )
    for each in every:
        checkpoint = from_module(Writer(), each, READ, "a", **given)  # type: ignore[arg-type]
        assert checkpoint.tokenizer.encode("b c") == [2, 3]


def test_what_splits_no_target_is_said() -> None:
    ends: dict[str, Any] = {"writes": "target", "start": "<s>", "target_pieces": WRITTEN}
    checkpoint = from_module(Writer(), ids, READ, "a", **ends)
    with pytest.raises(InputError, match="target_tokenize"):
        record(checkpoint, "a", "eins")
    with pytest.raises(InputError, match="target_tokenize must be a function"):
        from_module(Writer(), ids, READ, "a", target_tokenize=WRITTEN, **ends)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="leave target_tokenize out"):
        from_module(Writer(), ids, READ, "a", target_tokenize=words_to_ids)
    with pytest.raises(InputError, match="pieces must name every id"):
        from_module(Writer(), ids, examples="a")
    strange = from_module(Writer(), ids, READ, "a", target_tokenize=lambda text: [7], **ends)
    with pytest.raises(InputError, match="target_tokenize gave the id 7"):
        record(strange, "a", "eins")


@pytest.mark.parametrize("by", ["added", "template"])
def test_tokens_that_a_tokenizer_calls_special_are(by: str) -> None:
    pieces = [*READ, "[END]", "what?"]
    inner = library(pieces)
    if by == "added":
        inner.add_special_tokens(["[END]", "what?"])
    else:
        inner.post_processor = processors.TemplateProcessing("$A [END]", None, [("[END]", 5)])
    inner.model.unk_token = "what?"
    checkpoint = from_module(Writer(), inner, pieces)
    special = [it.piece for it in map(checkpoint.tokenizer.token, range(7)) if it.special]
    assert special == ["<pad>", "[END]"]
    wrapped = PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="what?")  # type: ignore[no-untyped-call]
    if by == "added":
        assert from_module(Writer(), wrapped, pieces).tokenizer.token(5).special


def padded(**pads: Any) -> Checkpoint:
    more: dict[str, Any] = {"target_tokenize": words_to_ids, "target_pieces": WRITTEN}
    return from_module(
        Writer(), ids, READ, "a b c", writes="target", start="<s>", end="</s>", **more, **pads
    )


@pytest.mark.parametrize(
    ("pads", "says"),
    [
        ({"pad": "<pad>"}, "of the target"),
        ({"pad": 99}, "of the target"),
        ({"source_pad": "eins"}, "of the source"),
        ({"pad": 2}, "'eins', and 'b' in the source"),
    ],
)
def test_padding_is_of_a_side(pads: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        padded(**pads)


@pytest.mark.parametrize("pads", [{}, {"source_pad": "<pad>"}, {"source_pad": 0, "pad": "</s>"}])
def test_a_sources_padding_takes_no_token_of_a_target(pads: dict[str, Any]) -> None:
    checkpoint = padded(**pads)
    recording = record(checkpoint, "a b c", "eins zwei")
    assert [token.piece for token in recording.target] == ["eins", "zwei", "</s>"]
    many = survey(checkpoint, ["a b c", "a"], ["eins zwei", "drei"])
    assert not many.left_out


def test_one_vocabulary_has_one_padding() -> None:
    with pytest.raises(InputError, match="leave source_pad"):
        from_module(Writer(), ids, READ, "a b c", source_pad=0)


@pytest.mark.parametrize("more", [{}, {"mask": "attention_mask"}])
def test_an_encoder_decoder_of_the_library_takes_its_target_by_name(more: dict[str, Any]) -> None:
    one = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2, "vocab_size": 5}
    model = T5ForConditionalGeneration(T5Config(**one, decoder_start_token_id=0)).eval()
    checkpoint = from_module(model, ids, READ, "a b", writes="target", start=0, **more)
    recording = record(checkpoint, "a b c", "d a")
    with torch.no_grad():
        args = {"input_ids": torch.tensor([[1, 2, 3]]), "decoder_input_ids": torch.tensor([[0, 4]])}
        torch.testing.assert_close(recording.logits, model(**args).logits[0])
    assert decode(checkpoint, "a b c", max_len=2).target


def test_logits_of_another_vocabulary_are_told_of_target_pieces() -> None:
    checkpoint = from_module(Writer(), ids, READ, "a b", writes="target", start="a")
    with pytest.raises(InputError, match=r"\[1, T, 5\].*target_pieces"):
        record(checkpoint, "a b", "c")


def test_a_module_where_a_path_or_a_checkpoint_is_wanted_is_named_in_a_line() -> None:
    with pytest.raises(CheckpointError, match=r"^.* Writer .*record\(module, .*from_module.*$"):
        load_checkpoint(Writer())  # type: ignore[arg-type]
    with pytest.raises(CheckpointError, match=r"^Writer is not"):
        decode(Writer, "a b")  # type: ignore[arg-type]
