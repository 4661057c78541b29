"""A checkpoint that says how it decodes: its defaults reach whatever decodes by a method's."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.conftest import SENTENCES
from tests.representatives import cases
from transformer import Checkpoint, decode, load_checkpoint
from transformer.__main__ import main
from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.decoding import decoding_methods, default_method
from transformer.discover import discover
from transformer.formats.headscope import save_checkpoint
from transformer.tokenizer import SentencePieceTokenizer
from viz.figure_at import page_of
from viz.notebook import search_tree
from viz.paper.record import address_of
from viz.screen import Screen
from viz.state.limits import offered
from viz.state.requests import method_of, request_of
from viz.ui.saving import how_decoded

FAMILIES = discover("transformer.models", "FAMILY")
WRITERS = [name for name, family in FAMILIES.items() if family.decodes]
OWN = {
    "beam": {"length_penalty": 2.5, "beam_size": 2},
    "sample": {"temperature": 0.25, "seed": 7, "max_len": 9},
}
USUAL = {
    method: {each.name: each.default for each in decoding_methods()[method].options}
    for method in OWN
}
TEXT = SENTENCES[0]
Make = Callable[..., Checkpoint]


@pytest.fixture
def make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text_tokenizer: SentencePieceTokenizer
) -> Make:
    """(family, defaults) -> a checkpoint of random weights, always the same, in the app's list."""
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))
    sizes = {"d_model": 16, "d_ff": 16, "n_heads": 2, "positions": "learned", "max_len": 32}

    def made(family: str, name: str, decoding: dict[str, Any]) -> Checkpoint:
        torch.manual_seed(0)
        config = ModelConfig(family, text_tokenizer.vocab_size, **sizes)
        weights = FAMILIES[family].build(config).state_dict()
        about = About("Random", "none", "sentencepiece", (TEXT,), decoding=decoding)
        save_checkpoint(tmp_path / name, about, config, weights, text_tokenizer)
        return load_checkpoint(tmp_path / name, "cpu")

    return made


def scores(checkpoint: Checkpoint, method: str, **options: Any) -> list[tuple[Any, float]]:
    return [
        (each.ids, each.score) for each in decode(checkpoint, TEXT, method, **options).hypotheses
    ]


@pytest.mark.parametrize(
    ("family", "method"),
    cases(
        [(family, method) for family in WRITERS for method in OWN],
        {"a search, of two stacks": (WRITERS[0], "beam"), "chance": (WRITERS[-1], "sample")},
    ),
)
def test_its_defaults_are_those_of_all_that_decodes(
    family: str, method: str, make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    plain, own = make(family, "plain", {}), make(family, "own", OWN)
    expected, usual = scores(plain, method, **OWN[method]), scores(plain, method)
    assert expected != usual and own.about.decoding == OWN
    assert scores(own, method) == expected
    assert scores(own, method, **dict.fromkeys(OWN[method])) == expected  # None: nothing is said
    named = USUAL[method] if method == "beam" else USUAL[method] | {"max_len": 32}
    assert scores(own, method, **named) == scores(plain, method, **named)

    assert main(["decode", str(own.path), TEXT, "--method", method, "--json"]) == 0
    hypotheses = json.loads(capsys.readouterr().out)["hypotheses"]
    assert [each["score"] for each in hypotheses] == [score for _, score in expected]

    request = request_of("own", TEXT, Screen(decoding=method))
    assert dict(request.options) == USUAL[method] | OWN[method]
    controls = {each.name: each for each in map(offered, method_of(request).options)}
    for name, value in OWN[method].items():
        assert (
            controls[name].default == value and controls[name].least <= value <= controls[name].most
        )
    for name, value in USUAL[method].items():  # an address that names it means what it says
        screen = Screen(decoding=method, options=((name, value),))
        assert dict(request_of("own", TEXT, screen).options)[name] == value

    pane, _ = page_of(address_of(f"./decode?checkpoint=own&text={TEXT}&decoding={method}"))
    decoding = pane.answer.decoding
    assert decoding is not None
    assert [(each.ids, each.score) for each in decoding.hypotheses] == expected
    said = how_decoded(pane.answer.request)
    assert ("length penalty 2.5" in said) == (method == "beam"), said
    assert ("temperature 0.25" in said) == (method == "sample"), said
    if method == "beam":
        trees = [
            search_tree(decode(it, TEXT, method, **more))
            for it, more in ((own, {}), (plain, OWN[method]))
        ]
        assert trees[0].html == trees[1].html


def test_a_folder_that_says_nothing_has_the_methods_own(make: Make) -> None:
    plain = make("encoder_decoder", "plain", {})
    assert plain.about.decoding == {}
    assert "decoding" not in json.loads((plain.path / "config.json").read_text())
    request = request_of("plain", TEXT, Screen())
    assert request.method == default_method("source")
    assert dict(request.options) == USUAL["beam"]
