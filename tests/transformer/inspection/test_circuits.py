"""QK and OV circuits against the model's own attention and the full V x V product."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.conftest import random_model, tiny
from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.formats.headscope import save_checkpoint
from transformer.inspection.circuits import (
    CircuitError,
    Ends,
    Table,
    copying_score,
    copying_scores,
    ov,
    ov_eigenvalues,
    qk,
    through_vocabulary,
)
from transformer.inspection.survey import Inspection, survey
from transformer.tokenizer import NumberTokenizer

IDS = [3, 5, 3, 9]
MODELS: dict[str, dict[str, Any]] = {
    "translator": {},
    "other sizes": {"d_key": 5, "d_value": 7, "tied": "none", "attention_scale": "fourth_root"},
    "no projections": {"projections": False, "attention_scale": "none"},
    "generator": {"family": "decoder_only", "positions": "concatenated"},
    "classifier": {"family": "encoder_classifier", "classes": ("a", "b"), "positions": "learned"},
}


def model_and_survey(name: str, place: Path) -> tuple[Any, Inspection]:
    """A random model without biases, and what is found of it in a file."""
    config = tiny(ModelConfig(n_heads=2), **MODELS[name])
    config = replace(config, n_heads=2)
    model = random_model(config)
    for key, parameter in model.named_parameters():
        if key.endswith("bias"):
            parameter.zero_()
    model.half().float()  # as it will be saved
    about = About("Random", "none", "numbers")
    save_checkpoint(place / "m", about, config, model.state_dict(), NumberTokenizer(20))
    return model.double(), survey(place / "m")


def embedded(model: Any, kind: str) -> torch.Tensor:
    """Every token as it enters a stack, at a position whose encoding is 0: [V, D]."""
    ids = torch.arange(20)[None]
    source = getattr(model, "source_embedding", None)
    x = (source or model.embedding)(ids) if kind == "encoder_self" else model.embedding(ids)
    if model.config.positions == "concatenated":
        x = model.join(x, torch.zeros(20, model.config.d_model, dtype=torch.float64))
    return x[0]


CASES = [
    ("translator", "encoder_self"),
    ("translator", "decoder_self"),
    ("other sizes", "encoder_self"),
    ("other sizes", "decoder_self"),
    ("no projections", "decoder_self"),
    ("generator", "decoder_self"),
    ("classifier", "encoder_self"),
]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_tables_are_what_the_models_own_attention_computes(
    name: str, kind: str, tmp_path: Path
) -> None:
    model, found = model_and_survey(name, tmp_path)
    stack = model.encoder if kind == "encoder_self" else model.decoder
    attention = stack.layers[1].self_attention
    head, ends = found.heads.layer(kind, 1)[1], found.heads.ends(kind)
    x = embedded(model, kind)[IDS]
    q = attention.split(attention.query(x[None]))[0, 1]
    k, v = (each[0, 1] for each in attention.keys_values(x[None]))
    scale = attention.dot_product.scale
    torch.testing.assert_close(qk(head, ends, IDS), q @ k.mT * scale)

    written = torch.zeros(1, len(IDS), attention.n_heads, v.size(-1), dtype=torch.float64)
    written[0, :, 1] = v
    added = attention.output(written.flatten(-2))[0]  # [N, D]
    if kind == "encoder_self":
        table = (getattr(model, "source_embedding", None) or model.embedding).weight
    else:
        table = model.embedding.weight if model.output is None else model.output.weight
    torch.testing.assert_close(ov(head, ends, IDS), added @ table[IDS].mT)


@pytest.mark.parametrize(("name", "kind"), [*CASES, ("translator", "cross")])
def test_copying_scores_are_those_of_the_full_product(name: str, kind: str, tmp_path: Path) -> None:
    _, found = model_and_survey(name, tmp_path)
    scores = copying_scores(found.heads, kind)
    assert scores.shape == (2, 2)
    ends = found.heads.ends(kind)
    keys, output = ends.keys.rows(slice(None)), ends.output.rows(slice(None)).mT
    through = through_vocabulary(ends)
    for layer in range(2):
        for number in range(2):
            head = found.heads.layer(kind, layer)[number]
            full = torch.linalg.eigvals(keys @ head.v @ head.o @ output)  # V of them
            expected = float(full.real.sum() / full.abs().sum())
            assert copying_score(ov_eigenvalues(head, through)) == pytest.approx(expected, abs=1e-8)
            assert float(scores[layer, number]) == pytest.approx(expected, abs=1e-8)


def test_a_head_that_copies_scores_one() -> None:
    assert copying_score(torch.tensor([2.0, 3.0]).cfloat()) == 1
    assert copying_score(torch.tensor([-2.0, -3.0]).cfloat()) == -1
    assert copying_score(torch.tensor([1 + 1j, 1 - 1j])) == pytest.approx(2**-0.5)
    assert copying_score(torch.zeros(3).cfloat()) == 0


def test_a_cross_head_has_no_scores_between_tokens(tmp_path: Path) -> None:
    _, found = model_and_survey("other sizes", tmp_path)
    head, ends = found.heads.layer("cross", 0)[0], found.heads.ends("cross")
    assert ends.queries is None
    with pytest.raises(CircuitError, match="no token form"):
        qk(head, ends, IDS)
    assert ov(head, ends, IDS).shape == (4, 4)
    assert not torch.equal(ends.keys.values, ends.output.values)  # the source's, not the output's


def test_two_vocabularies_have_no_copying_score() -> None:
    ends = Ends(None, Table(torch.ones(5, 3)), Table(torch.ones(4, 3)), reads_itself=False)
    with pytest.raises(CircuitError, match="two vocabularies"):
        through_vocabulary(ends)
    with pytest.raises(CircuitError, match="Token 7 is beyond the 5 embeddings"):
        ends.keys.rows([1, 7])
