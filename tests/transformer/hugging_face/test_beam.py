"""Beam search with the library's own rules of length and stopping: its n best, and their scores."""

from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.representatives import cases
from tests.transformer.hugging_face.saving import save, writer
from transformer import decode, load_checkpoint

BIAS = {"Marian": 4.0, "BART": 8.0}
"""Of the end, so that some texts end early, and some at the limit."""
TEXT, IDS, LENGTH = "the cat sat", [4, 5, 6], 9


def n_best(model: Any, size: int, **options: Any) -> list[tuple[tuple[int, ...], float]]:
    """What `generate` finds: ids up to the end, without the start, and scores."""
    with torch.no_grad():
        written = model.generate(
            torch.tensor([IDS]),
            **{"num_beams": size, "num_return_sequences": size, "do_sample": False},
            **{"max_new_tokens": LENGTH, "return_dict_in_generate": True, "output_scores": True},
            **options,
        )
    end = model.generation_config.eos_token_id
    rows = [row[1:] for row in written.sequences.tolist()]
    cut = [row[: row.index(end) + 1] if end in row else row for row in rows]
    scores = [0.0] * size if size == 1 else written.sequences_scores.tolist()
    return list(zip(map(tuple, cut), scores, strict=True))


FEW = {"no beam": ("Marian", 1), "a beam": ("Marian", 4), "another model, and more": ("BART", 8)}


@pytest.mark.parametrize(("family", "size"), cases(product(BIAS, (1, 4, 8)), FEW))
def test_the_n_best_are_those_of_generate(family: str, size: int, tmp_path: Path) -> None:
    model = writer(family, 2)
    model.generation_config.eos_token_id = 2
    model.final_logits_bias[0, 2] += BIAS[family]
    checkpoint = load_checkpoint(save(model, tmp_path), "cpu")
    lengths = set()
    for length_penalty, stops in product((0.0, 0.6, 1.0), (False, True, "never")):
        options = {"length_penalty": length_penalty, "early_stopping": stops}
        theirs = n_best(model, size, **options)
        ours = decode(
            checkpoint,
            TEXT,
            "beam",
            **{"beam_size": size, "max_len": LENGTH, "plain_length": 1},
            **{"length_penalty": length_penalty},
            early_stopping={False: 0, True: 1, "never": 2}[stops],
        ).hypotheses
        assert [each.ids for each in ours] == [ids for ids, _ in theirs], options
        if size > 1:
            scores = [score for _, score in theirs]
            torch.testing.assert_close([each.score for each in ours], scores, rtol=0, atol=1e-4)
        lengths |= {len(each.ids) for each in ours}
    assert size == 1 or len(lengths) > 1
