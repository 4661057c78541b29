"""Starts, ends, lengths and missing words are as the folder and the model's own tables say."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.representatives import cases
from tests.transformer.hugging_face.saving import (
    WRITERS,
    generated,
    save,
    save_tokenizer,
    writer,
)
from tests.transformer.watch.hugging_face import ENCODER_DECODER, FAMILIES, SMALL, build
from tests.transformer.watch.hugging_face import FEW as PLAIN
from tests.transformer.watch.more_families import MORE
from transformer import InputError, decode, load_checkpoint, record
from transformer.hugging_face.sizes import longest
from transformer.own_module.tokenizer import OwnTokenizer
from transformer.tokenizer import Tokenizer
from transformer.vocabulary import VocabularyTokenizer
from transformer.words import word_groups

TWO = [name for name in WRITERS if name in ("Marian", "BART", "T5")]


STARTS = [
    (family, start, bos)
    for family in TWO
    for start, bos in ((0, 1), (0, None), (None, 0), (5, 0))
    if (family, start) != ("Marian", None)  # whose configuration always names one
]
FEW = {
    **{f"{start} and {bos}": (it, start, bos) for it, start, bos in STARTS if it == "BART"},
    **{f"a start of {family}": (family, 5, 0) for family in TWO},
}


@pytest.mark.parametrize(("family", "start", "bos"), cases(STARTS, FEW))
def test_a_target_starts_with_what_the_folder_says(
    family: str, start: int | None, bos: int | None, tmp_path: Path
) -> None:
    model = writer(family, 6, decoder_start_token_id=start, bos_token_id=bos)
    checkpoint = load_checkpoint(save(model, tmp_path), "cpu")
    if start is None:  # generate has nothing to begin with but bos
        model.generation_config.decoder_start_token_id = bos
    decoding = decode(checkpoint, "the cat", max_len=8)
    assert [token.id for token in decoding.target] == generated(model, [4, 5], 8)
    rows = record(checkpoint, "the cat", decoding.target).attentions["decoder_self"].queries
    assert rows[0].id == (start if start is not None else bos)


ENDS = {"a file for writing": ("Marian", True), "none": ("T5", False), "a prompt": ("Llama", True)}


@pytest.mark.parametrize(
    ("family", "in_generation_config"), cases(product(WRITERS, (True, False)), ENDS)
)
def test_any_of_several_end_tokens_ends(
    family: str, in_generation_config: bool, tmp_path: Path
) -> None:
    model = writer(family, 3)
    free = generated(model, [4, 5, 6], 8, eos_token_id=None)
    end = free[3]
    ends = [63 if 63 not in free[:4] else 62, end]
    place = model.generation_config if in_generation_config else model.config
    place.eos_token_id = ends
    folder = save(model, tmp_path)
    if not in_generation_config:
        (folder / "generation_config.json").unlink(missing_ok=True)
    checkpoint = load_checkpoint(folder, "cpu")
    assert checkpoint.config.eos_ids == frozenset(ends)
    for method in ("greedy", "beam"):
        options = {"beam_size": 3, "length_penalty": 0.0} if method == "beam" else {}
        theirs = {"num_beams": 3, "length_penalty": 0.0} if method == "beam" else {}
        decoding = decode(checkpoint, "the cat sat", method, max_len=8, **options)
        right = generated(model, [4, 5, 6], 8, eos_token_id=ends, **theirs)
        assert [token.id for token in decoding.target] == [id for id in right if id]
        assert decoding.is_ended == (decoding.target[-1].id in ends)


LONG = {
    **FAMILIES,
    "LED": (
        "LEDForConditionalGeneration",
        "LEDConfig",
        {
            **{n: each for n, each in ENCODER_DECODER.items() if n != "max_position_embeddings"},
            **{"max_encoder_position_embeddings": 44, "max_decoder_position_embeddings": 36},
            "attention_window": 4,
        },
    ),
    "RoBERTa decoder": ("RobertaForCausalLM", "RobertaConfig", {**SMALL, "is_decoder": True}),
    "ProphetNet": (
        "ProphetNetForConditionalGeneration",
        "ProphetNetConfig",
        {
            **{"vocab_size": 50, "hidden_size": 16, "encoder_ffn_dim": 20, "ngram": 2},
            **{"decoder_ffn_dim": 20, "num_encoder_layers": 2, "num_decoder_layers": 2},
            **{"num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4},
            "max_position_embeddings": 40,
        },
    ),
}
SAYS_MORE = ("CTRL", "GPT-J", "CodeGen", "MPT")
"""No table that is an embedding, and yet no position beyond it."""


def of_length(model: Any, side: str, n: int) -> None:
    """Run it over n tokens on a side."""
    ids, few = torch.full((1, n), 7), torch.full((1, 4), 7)
    both = {"source": (ids, few), "target": (few, ids)}[side]
    named = dict(zip(("input_ids", "decoder_input_ids"), both, strict=True))
    if not model.config.is_encoder_decoder:
        del named["decoder_input_ids"]
    with torch.no_grad():
        model(**named)


TABLES = {
    **PLAIN,
    "two lengths": "LED",
    "places that begin with the padding": "RoBERTa decoder",
    "places of two streams": "ProphetNet",
    **{f"{family} knows": family for family in SAYS_MORE},
}


@pytest.mark.parametrize("family", cases(LONG, TABLES))
def test_as_many_tokens_as_its_own_tables_have_rows(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FAMILIES, family, LONG[family])
    model: Any = build(family)
    found = longest(model)
    has_table = any("position" in name or "wpe" in name for name, _ in model.named_parameters())
    for side, n in found.items():
        assert n > 0
        if n < 100:
            of_length(model, side, n)
        # One more fails, or is no row of its own: the tables are used up.
        if has_table and n < 100 and (family, side) != ("ProphetNet", "source"):
            with pytest.raises((IndexError, RuntimeError, ValueError)):
                of_length(model, side, n + 1)
    if family in SAYS_MORE:
        with pytest.raises((IndexError, RuntimeError, ValueError)):
            of_length(model, "source", found["source"] + 1)


WITH_PICTURES = {
    **dict.fromkeys(("LLaVA", "PaliGemma", "Qwen2-VL", "GIT", "T5Gemma-2", "CLIP", "SigLIP"), 40),
    **{"OWL-ViT": 40, "AltCLIP": 38, "Kosmos-2": 40, "Perceiver": 9, "CANINE": 20},
}
"""Positions of a text, beside 9 patches of a picture and its class."""


PICTURED = {
    **{"patches in the text": "LLaVA", "beside it": "CLIP", "fewer": "AltCLIP"},
    **{"none, but as many states": "Perceiver", "blocks of characters": "CANINE"},
}


@pytest.mark.parametrize("family", cases(WITH_PICTURES, PICTURED))
def test_patches_of_a_picture_are_no_limit_of_a_text(family: str) -> None:
    model: Any = MORE[family].build()
    assert longest(model)["source"] == WITH_PICTURES[family]
    for part in model.modules():  # as LLaVA's folders have it
        if "vision" in type(getattr(part, "config", None)).__name__.lower():
            part.config.vocab_size = 32000
    assert longest(model)["source"] == WITH_PICTURES[family]


@pytest.mark.parametrize("family", ["RoBERTa decoder", "MPT", "LED", "GPT-2"])
def test_a_decoding_ends_at_the_limit_and_not_in_an_error(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(FAMILIES, family, LONG[family])
    model: Any = build(family)
    model.config.eos_token_id = model.generation_config.eos_token_id = None
    model.save_pretrained(tmp_path)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    n = checkpoint.config.max_len - 4
    decoding = decode(checkpoint, " ".join(["7"] * n))
    assert record(checkpoint, " ".join(["7"] * n), decoding.target).attentions
    with pytest.raises(InputError, match=f"takes at most {checkpoint.config.max_len}"):
        record(checkpoint, " ".join(["7"] * (checkpoint.config.max_len + 1)), decoding.target)


def test_sides_of_different_lengths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAMILIES, "LED", LONG["LED"])
    model: Any = build("LED")
    model.save_pretrained(tmp_path)
    config: Any = load_checkpoint(tmp_path, "cpu").config
    assert (config.max_len, config.max_target_len) == (44, 36)


def test_what_is_missing_is_a_word_and_is_written(tmp_path: Path) -> None:
    model = writer("Marian")
    model.final_logits_bias[0, 3] = 50
    checkpoint = load_checkpoint(save(model, tmp_path), "cpu")
    source = record(checkpoint, "the ☃ sat", "the").source
    assert [(t.piece, t.special, t.unknown) for t in source] == [
        *[("the", False, False), ("<unk>", False, True), ("sat", False, False)]
    ]
    assert [len(group) for group in word_groups(source)] == [1, 1, 1]
    assert decode(checkpoint, "the ☃ sat", max_len=4).text == " ".join(["<unk>"] * 4)


def test_an_id_without_a_piece_is_written_as_its_number(tmp_path: Path) -> None:
    model = writer("Marian", vocab_size=80)
    model.final_logits_bias[0, 70] = 50
    checkpoint = load_checkpoint(save(model, tmp_path), "cpu")
    decoding = decode(checkpoint, "the cat", max_len=2)
    assert decoding.text == "⟨70⟩ ⟨70⟩" and not decoding.target[0].special


def test_a_piece_that_the_model_lacks_is_named(tmp_path: Path) -> None:
    model = writer("GPT-2")
    model.save_pretrained(tmp_path)
    save_tokenizer(tmp_path, 70)
    checkpoint = load_checkpoint(tmp_path, "cpu")
    assert "70 pieces" in checkpoint.about.notes[0]
    with pytest.raises(InputError, match="'w58' has the id 68"):
        record(checkpoint, "the w58")


PIECES = ["<pad>", "<s>", "</s>", "<unk>", "the", "cat"]


@pytest.mark.parametrize(
    "tokenizer",
    [VocabularyTokenizer(PIECES), OwnTokenizer(PIECES, (0, 1, 2), lambda text: [4, 3, 5])],
    ids=["vocabulary", "own"],
)
def test_no_tokenizer_hides_what_is_missing(tokenizer: Tokenizer) -> None:
    unknown = tokenizer.token(3)
    assert unknown.unknown and not unknown.special and tokenizer.token(0).special
    assert "<unk>" in tokenizer.decode([1, 4, 3, 5, 2])


def test_an_unknown_token_that_also_ends_texts_stays_special(tmp_path: Path) -> None:
    """GPT-2's one special token is all of them."""
    folder = save(writer("GPT-2"), tmp_path)
    save_tokenizer(folder, unk_token="</s>")
    tokenizer = load_checkpoint(folder, "cpu").tokenizer
    assert tokenizer.token(2).special and not tokenizer.token(2).unknown
