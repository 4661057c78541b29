"""Public functions that are given wrong things: each ends in one sentence, never in Python's."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import transformer
import viz
from transformer import (
    Recording,
    align,
    decode,
    evidence,
    from_module,
    from_weights,
    load_checkpoint,
    load_recording,
    record,
    survey,
)
from transformer.analysis.ablation import sweep
from transformer.analysis.alignment import Reader
from transformer.refusal import Refusal
from viz.server.exploring import explore

LETTERS = "abcdef"


class Own(nn.Module):
    """Attention by hand, and logits."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embed, self.out = nn.Embedding(6, 8), nn.Linear(8, 6)

    def forward(self, ids: Any) -> Any:
        x = self.embed(ids)
        return self.out((x @ x.mT).softmax(-1) @ x)


weights = torch.rand(1, 2, 3, 3).softmax(-1)
WRONG: dict[str, Any] = {
    "a class": Own,
    "a function": len,
    "attentions": (weights, weights),
    "a tensor": weights,
    "an output": SimpleNamespace(attentions=(weights,), logits=weights),
    "weights of a module": Own().state_dict(),
    "an array": np.zeros((2, 2)),
    "a path": Path("nowhere"),
    "a name": "nowhere",
    "bytes": b"abc",
    "None": None,
    "a dict": {},
    "a list": [1, 2],
    "nothing": [],
    "a number": 3,
    "not whole": 0.5,
    "less than 0": -1,
    "too large": 10**9,
    "not a number": float("nan"),
    "anything": object(),
}


@cache
def things() -> SimpleNamespace:
    """Right things of each sort."""
    checkpoint = load_checkpoint("en-de-small", device="cpu")
    decoding = decode(checkpoint, "It rains.")
    return SimpleNamespace(
        checkpoint=checkpoint,
        decoding=decoding,
        recording=record(checkpoint, "It rains.", decoding.target),
        evidence=evidence(checkpoint, "It rains."),
        survey=survey(checkpoint, ["It rains."]),
    )


def own(**named: Any) -> Any:
    given = {"module": Own(), "tokenize": lambda text: [*map(LETTERS.index, text)]}
    return {**given, "pieces": [*LETTERS], "examples": ["abc"], **named}


PICTURED = {"kind": None, "layer": 0, "theme": "light", "height": 300}
FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[[Any], dict[str, Any]]]] = {
    "load_checkpoint": (load_checkpoint, lambda it: {"path": "en-de-small", "device": "cpu"}),
    "decode": (
        decode,
        lambda it: {"checkpoint": it.checkpoint, "text": "It rains.", "method": "greedy"},
    ),
    "record": (
        record,
        lambda it: {"checkpoint": it.checkpoint, "text": "It rains.", "target": "Es"},
    ),
    "record a module": (
        record,
        lambda it: {"module": Own(), "inputs": torch.tensor([[1, 2]]), "tokens": ["a", "b"]},
    ),
    "evidence": (evidence, lambda it: {"checkpoint": it.checkpoint, "text": "It rains."}),
    "survey": (
        survey,
        lambda it: {"checkpoint": it.checkpoint, "sentences": ["It rains."], "batch": 4},
    ),
    "align": (
        align,
        lambda it: {
            **{"checkpoint": it.checkpoint, "sentences": ["It is 3 ."], "targets": ["Es ist 3 ."]},
            **{"gold": ["2-2"], "reader": Reader("read", 0, 0), "batch": 4},
        },
    ),
    "sweep": (
        sweep,
        lambda it: {"checkpoint": it.checkpoint, "text": "It rains.", "target": "Es"},
    ),
    "patch": (
        transformer.patch,
        lambda it: {"checkpoint": it.checkpoint, "text": "It rains.", "other": "It snows."},
    ),
    "contrast": (
        transformer.contrast,
        lambda it: {
            **{"checkpoint": it.checkpoint, "text": "It rains.", "target": "Es regnet."},
            **{"word": 0, "other": "Das"},
        },
    ),
    "labels": (transformer.labels, lambda it: {"survey": it.survey}),
    "from_module": (from_module, lambda it: own(writes="nothing", max_len=8)),
    "from_weights": (
        from_weights,
        lambda it: {"weights": {"cross": weights[None, 0]}, "queries": None, "keys": None},
    ),
    "load_recording": (load_recording, lambda it: {"path": "nowhere.npz"}),
    "save": (Recording.save, lambda it: {"self": it.recording, "path": "nowhere.pkl"}),
    "head_view": (viz.head_view, lambda it: {"recording": it.recording, "heads": [0], **PICTURED}),
    "head_grid": (
        viz.head_grid,
        lambda it: {
            **{"recording": it.recording, "show": "maps", "sort": "layer", "lens": "weight"},
            "words": True,
        },
    ),
    "head_map": (viz.head_map, lambda it: {"recording": it.recording, "head": 0, **PICTURED}),
    "cell_steps": (
        viz.cell_steps,
        lambda it: {"recording": it.recording, "head": 0, "query": 0, "key": 0, **PICTURED},
    ),
    "decode_player": (
        viz.decode_player,
        lambda it: {"decoding": it.decoding, "recording": it.recording, "layer": 0, "head": 0},
    ),
    "search_tree": (viz.search_tree, lambda it: {"decoding": it.decoding, "words": True}),
    "figure": (
        viz.figure,
        lambda it: (
            {"recording": it.recording, "name": "head_difference", "kind": "cross", "layer": 0}
            | {"head": 0, "second": ("cross", 0, 1), "theme": "light"}
        ),
    ),
    "figure of encodings": (
        viz.figure,
        lambda it: (
            {"recording": it.recording, "name": "encoding_curves", "side": "source"}
            | {"dimensions": [0, 3], "n_positions": 4}
        ),
    ),
    "svg": (
        viz.Picture.svg,
        lambda it: (
            {"self": viz.head_map(it.recording), "width": 3.3, "words": True, "scale": "root"}
            | {"font": "", "slide": False, "caption": ""}
        ),
    ),
    "panels": (
        viz.panels,
        lambda it: (
            {"pictures": [viz.head_map(it.recording)], "path": "nowhere/a.svg", "title": "A"}
            | {"citation": "B", "width": 3.3}
        ),
    ),
    "word_card": (viz.word_card, lambda it: {"evidence": it.evidence, "word": 0}),
    "heads_table": (viz.heads_table, lambda it: {"survey": it.survey, "theme": "light"}),
    "track": (
        viz.track,
        lambda it: (
            {"module": Own(), "inputs": torch.tensor([[1, 2]]), "tokens": ["a", "b"]}
            | {"every": 2, "most": 4, "optimizer": None}
        ),
    ),
    "explore": (explore, lambda it: own(address="", block=False)),
}
FIRST = ("path", "checkpoint", "module", "recording", "decoding", "evidence", "survey", "weights")
LEFT_OUT = ("decode_player", "recording", "None")
"""One of them that is made where it is left out."""
FIRST_OF_EXPLORE = "module"
"""The others are those of from_module, and what is right is served."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_thing_ends_in_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    function, made = FUNCTIONS[name]
    right = made(things())
    monkeypatch.chdir(tmp_path)  # where all is right but a choice, a picture is written
    for argument in [FIRST_OF_EXPLORE] if function is explore else right:
        for what, value in WRONG.items() if argument != "self" else ():
            try:
                function(**{**right, argument: value})
            except Refusal:
                continue
            except Exception as error:
                pytest.fail(f"{argument}, {what}: {type(error).__name__}: {error}")
            assert argument not in FIRST or (name, argument, what) == LEFT_OUT, what
