"""Every checkpoint that is shipped, and every choice of a model that one makes, in both engines."""

import json
import re
import subprocess
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import random_checkpoint
from tests.node import node
from tests.representatives import cases
from tests.viz.live.engine import (
    ENGINE,
    MANY,
    ROOT,
    ask,
    checkpoint_of,
    differences,
    groups_of,
    texts,
)
from transformer import load_checkpoint, record
from transformer.checkpoint import Checkpoint
from transformer.config import ModelConfig
from transformer.formats.headscope import save_checkpoint
from transformer.inputs import InputError, source_ids
from transformer.refusal import Refusal
from viz.live.models import READ, not_read

OTHERS = ("copy", "everyday", "shakespeare", "sentiment", "sentiment-mean")
"""Those that `test_engine.py` does not ask: it asks the translators."""
SHIPPED = sorted(each.name for each in (ROOT / "checkpoints").iterdir() if each.is_dir())
SOME = 3
LONGEST = 40
"""Tokens that a text goes on for: one that a model without an end writes fills all of its room."""


def asked(name: str, every: list[str], **more: Any) -> list[dict[str, Any]]:
    options = {"options": {"max_len": LONGEST}} if "max_len" not in more else {}
    plain = {"copy": {}, "sentiment": {}, "sentiment-mean": {}}.get(name, options)
    return [
        {"text": text, "method": ("greedy", "beam")[i % 2], **plain, **more}
        for i, text in enumerate(every)
    ]


def test_every_shipped_checkpoint_is_read() -> None:
    shipped = [load_checkpoint(ROOT / "checkpoints" / name) for name in SHIPPED]
    assert {each.name for each in shipped} >= {*OTHERS, "en-de"}
    assert [why for each in shipped if (why := not_read(each))] == []


@pytest.mark.parametrize("name", OTHERS)
def test_it_says_the_same_and_looks_at_the_same(name: str) -> None:
    assert differences(name, asked(name, texts(name)[:SOME])) == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", OTHERS)
def test_it_does_so_of_fifty_texts(name: str) -> None:
    assert len(texts(name)) == MANY
    assert differences(name, asked(name, texts(name)[SOME:])) == []


def test_a_beam_may_be_wider_than_the_longest_text_is_long() -> None:
    every = [
        {"text": text, "method": "beam", "options": {"beam_size": size}}
        for text in ("3 7 2 9 4 11 5", "2 2 5")
        for size in (8, 16)
    ]
    assert differences("copy", every) == []


@pytest.mark.parametrize("name", ["everyday", "shakespeare"])
def test_a_generator_fills_its_room_and_goes_on_from_a_prefix(name: str) -> None:
    """Greedy as long as a text may be; a beginning that is given stands behind the prompt."""
    text = texts(name)[0]
    prefix = checkpoint_of(name).tokenizer.encode("the", "continuation")
    prefix = [id for id in prefix if id != checkpoint_of(name).config.eos_id]
    every = [{"text": text, "method": "greedy"}]
    every += asked(name, [text, text], prefix=prefix)
    assert differences(name, every) == []


CHANGES = {
    "copy": ("head-off:cross.1.2", "cut:decoder_self.0.1.2.1", "hide:source.1"),
    "everyday": ("head-off:decoder_self.1.2", "cut:decoder_self.2.1.3.1", "hide:text.1"),
    "shakespeare": ("head-off:decoder_self.3.0", "cut:decoder_self.0.5.9.1", "hide:text.0"),
    "sentiment": ("head-off:encoder_self.0.1", "cut:encoder_self.0.2.0.1", "hide:text.1"),
    "sentiment-mean": ("head-off:encoder_self.0.3", "cut:encoder_self.0.0.1.0", "hide:text.0"),
}


@pytest.mark.parametrize(
    ("name", "changes"),
    cases(
        [(name, each) for name, all in CHANGES.items() for each in (*((it,) for it in all), all)],
        {name: (name, all) for name, all in CHANGES.items()},
    ),
)
def test_a_changed_model_says_the_same(name: str, changes: tuple[str, ...]) -> None:
    long = [text for text in texts(name) if len(text.split()) > 2]
    assert differences(name, asked(name, long[:2], changes=list(changes))) == []


def test_a_text_of_which_all_is_hidden_is_refused() -> None:
    asked = {"call": "answer", "text": "Bad.", "changes": ["hide:text.0", "hide:text.1"]}
    checkpoint = checkpoint_of("sentiment")
    groups = groups_of(record(checkpoint, "Bad.").source)
    (given,) = ask("sentiment", [{**asked, "groups": groups}])
    with pytest.raises(Refusal, match=re.escape(given["error"])):
        record(checkpoint, "Bad.", None, ["hide:text.0", "hide:text.1"])


@pytest.mark.parametrize("name", ["copy", "shakespeare", "sentiment"])
def test_it_computes_the_same_without_simd(name: str) -> None:
    assert differences(name, asked(name, texts(name)[:2]), is_plain=True) == []


# Every value that a recipe uses, in tiny models of random weights.

BASE = ModelConfig(
    vocab_size=22,
    d_model=32,
    d_ff=20,
    n_heads=2,
    n_encoder_layers=2,
    n_decoder_layers=2,
    dropout=0.0,
    max_len=14,
)
FAMILIES = {
    "encoder_decoder": {},
    "decoder_only": {"n_encoder_layers": 0},
    "encoder_classifier": {"n_decoder_layers": 0, "classes": ("a", "b", "c")},
}
VALUES: list[dict[str, Any]] = [
    {name: value} for name, values in READ.items() if name != "family" for value in values[1:]
]
VALUES += [{}, {"eos_id": None}, {"norm_eps": 1e-3}, {"vocab_size": 21}, {"n_heads": 1}]
VALUES += [{key: value for each in VALUES[:3] for key, value in each.items()}]


def saved(folder: Path, config: ModelConfig) -> str:
    """A folder with such a model, by its path."""
    random_one = random_checkpoint(config, seed=3)  # no two candidates of it are equally probable
    save_checkpoint(
        folder, random_one.about, config, random_one.model.state_dict(), random_one.tokenizer
    )
    return str(folder)


@pytest.mark.parametrize(
    ("family", "values"),
    cases(
        product(FAMILIES, VALUES),
        {
            **{f"all at once, {family}": (family, VALUES[-1]) for family in FAMILIES},
            "no end": ("encoder_decoder", {"eos_id": None}),
            "largest values": ("encoder_classifier", {"pooling": "max"}),
            "logits that are no multiple of 4": ("decoder_only", {"vocab_size": 21}),
        },
    ),
)
def test_each_choice_of_a_model_is_computed_the_same(
    family: str, values: dict[str, Any], tmp_path: Path
) -> None:
    config = replace(BASE, family=family, **FAMILIES[family], **values)
    name = saved(tmp_path / "tiny", config)
    every = [
        {"text": text, "method": method}
        for text in ("5 9 12 3", "20 2 2 7 19 4 8")
        for method in ("greedy", "beam")
    ]
    assert differences(name, every) == []


OTHER_VALUES: dict[str, Any] = {
    "norm_order": "sublayer",
    "norm": "scalar",
    "embedding_norm": True,
    "encoder_norm": True,
    "decoder_norm": True,
    "decoder_feed_norm": False,
    "activation": "swish",
    "d_key": 16,
    "d_value": 16,
    "projections": False,
    "attention_scale": "none",
    "attention_bias": "none",
    "positions": "none",
    "sinusoids": "halves",
    "tied": "none",
    "output_bias": True,
    "d_model": 36,
    "d_ff": 18,
}


@pytest.mark.parametrize("field", cases(OTHER_VALUES, {"a choice": "norm", "a size": "d_model"}))
def test_any_other_choice_is_refused_by_its_field(field: str, tmp_path: Path) -> None:
    """When the site is built, and by the engine, which may be given any folder."""
    config = replace(BASE, **{field: OTHER_VALUES[field]})
    name = saved(tmp_path / "tiny", config)
    assert f" {field} " in f" {not_read(load_checkpoint(name))} "
    (given,) = ask(name, [{"call": "ids", "text": "5 9"}])
    assert field in given["error"] or "multiple" in given["error"]


def test_site_and_engine_read_the_same_choices() -> None:
    show = "it => console.log(JSON.stringify(it.READ))"
    code = f"import('{(ENGINE / 'config.js').as_uri()}').then({show})"
    done = subprocess.run([node(), "-e", code], capture_output=True, text=True, check=True)
    own = {name: list(values) for name, values in READ.items()}
    assert json.loads(done.stdout) == own
    for name, (first, *_) in own.items():  # the first is what is meant where nothing is said
        assert first == getattr(ModelConfig(), name), name


# Tokenizers.

ODD = (
    *("3, 7", " 3\u00a07 ", "3\u200b7", "٣ 7", "03 007", "12", "1", "2.5", "-3", ",", "3 x" * 30),
    *("3\x1c7", "3\ufeff7", "3\u30007", "3\n7\t", "9999999999"),
)
SIGNS = (
    "O, she",
    "“No”",
    "café",
    "a–b…",
    "x\ny",
    "  ",
    "3",
    "half \ud83d pair",
    "I’ll",
    "\u00a0ay",
)


@pytest.mark.parametrize(("name", "every"), [("copy", ODD), ("shakespeare", SIGNS)])
def test_odd_texts_are_read_or_refused_alike(name: str, every: tuple[str, ...]) -> None:
    for text, given in zip(
        every, ask(name, [{"call": "ids", "text": text} for text in every]), strict=True
    ):
        own = ids_or_refusal(checkpoint_of(name), text)
        if isinstance(own, list):
            assert given == own, ascii(text)
        else:
            assert given["error"].split(";")[0] == own.split(";")[0], ascii(text)
            assert re.fullmatch(r"[^\n]+[.]", given["error"])


def ids_or_refusal(checkpoint: Checkpoint, text: str) -> list[int] | str:
    try:
        return source_ids(checkpoint, text)
    except InputError as error:
        return str(error)


def named(checkpoint: Checkpoint) -> list[tuple[Any, ...]]:
    tokens = map(checkpoint.tokenizer.token, range(checkpoint.config.vocab_size))
    return [(it.id, it.piece, it.special, it.unknown) for it in tokens]


@pytest.mark.parametrize("name", ["copy", "shakespeare"])
def test_every_token_has_its_name_and_spells_its_text(name: str) -> None:
    checkpoint = checkpoint_of(name)
    ids = [*range(checkpoint.config.vocab_size)]
    own, text = ask(name, [{"call": "tokens", "ids": ids}, {"call": "text", "ids": ids}])
    assert [tuple(each[it] for it in ("id", "piece", "special", "unknown")) for each in own] == (
        named(checkpoint)
    )
    assert text == checkpoint.tokenizer.decode(ids)
