"""A caller's slip ends in a sentence: every public function, with each argument of a wrong sort."""

import io
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import partial
from inspect import Parameter, isfunction, isgenerator, signature
from pathlib import Path
from typing import Any, get_type_hints
from warnings import catch_warnings

import numpy as np
import pytest
import torch
from torch import nn

import transformer
import viz
from tests.representatives import cases
from transformer import align, decode, evidence, load_checkpoint, record, survey
from transformer.analysis.ablation import sweep
from transformer.analysis.patching import patching
from transformer.analysis.reading import Reading
from transformer.checkpoint import shipped_path
from transformer.discover import discover
from transformer.edits import Edit
from transformer.recording.ours import record as record_open
from transformer.refusal import LONGEST, Refusal
from transformer.watch import record_module
from viz.notebook.on_paper import Look

TEXT, OTHER = "2 3 4", "2 5 4"
INPUTS = torch.tensor([[1, 2, 3]])


class Reads(nn.Module):
    """An encoder of one layer."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.layer(self.embedding(ids))
        return result


CHECKPOINT = load_checkpoint(shipped_path("copy"), "cpu")
MODULE = Reads().eval()
DECODING = decode(CHECKPOINT, TEXT, "beam")
RECORDING = record(CHECKPOINT, TEXT, DECODING.target)
SURVEY = survey(CHECKPOINT, [TEXT])
ALIGNMENT = align(CHECKPOINT, [TEXT] * 2, [TEXT] * 2)
PICTURE = viz.head_map(RECORDING)
WEIGHTS = {"cross": np.full((1, 1, 2, 3), 1 / 3)}

VALUES = {
    "a recording": RECORDING,
    "an attention": RECORDING.attentions["cross"],
    "a decoding": DECODING,
    "its search": DECODING.search,
    "a hypothesis": DECODING.hypotheses[0],
    "evidence": evidence(CHECKPOINT, TEXT),
    "a survey": SURVEY,
    "an alignment": ALIGNMENT,
    "its readings": ALIGNMENT.readings,
    "a sweep": sweep(CHECKPOINT, TEXT, DECODING.target),
    "a patching": next(patching(CHECKPOINT, OTHER, TEXT)),
    "a picture": PICTURE,
}
"""Values whose methods are called."""
RIGHT: dict[str, Any] = {
    **dict.fromkeys(("checkpoint", "model"), CHECKPOINT),
    **dict.fromkeys(("text", "source", "second"), TEXT),
    **dict.fromkeys(("layer", "head", "query", "key", "rank", "word"), 0),
    **dict.fromkeys(("kind", "place"), "cross"),
    "sentences": [TEXT],
    "target": DECODING.target,
    "other": OTHER,
    "id": 1,
    "ids": [2],
    "recording": RECORDING,
    "decoding": DECODING,
    "evidence": VALUES["evidence"],
    "survey": SURVEY,
    "module": MODULE,
    "inputs": INPUTS,
    "tokenize": str.split,
    "pieces": list("abcde"),
    "weights": WEIGHTS,
    "pictures": [PICTURE],
    "reader": ALIGNMENT.reader,
    "changes": torch.zeros(3),
}
"""A right value of each argument that a call must have, by its name."""
OF_ONE: dict[str, dict[str, Any]] = {
    "record": {"target": DECODING.target},
    "sweep": {"target": DECODING.target},
    "from_module": {"pieces": list("abcde")},
    "load_checkpoint": {"path": shipped_path("copy")},
    "load_recording": {"path": "saved.npz"},
    "panels": {"path": "sheet.svg"},
    "figure": {"name": "head_heatmap"},
    "Edit": {"name": "head-off"},
    "a recording.save": {"path": "saved.npz"},
    "a picture.save": {"path": "page.html"},
    "a patching.of": {"name": "head-from"},
}
"""The same where a name is right of one function alone."""
PLAIN: list[Any] = [
    *(
        None,
        True,
        3,
        -1,
        2.5,
        2j,
        ...,
        range(3),
        "x",
        "",
        b"x",
        "\ud800",
        "a\nb",
        "a\0b",
        Path("x"),
    ),
    *([], [None], ["x"], [[]], (1, 2, 3), {}, {"x": 1}, set(), {1, 2}),
]
WRONG: dict[str, Callable[[], Any]] = {
    **{ascii(each): partial(copy, each) for each in PLAIN},
    "huge": lambda: 10**30,
    "nan": lambda: float("nan"),
    "infinite": lambda: float("inf"),
    "an object": object,
    "a function": lambda: len,
    "a class": lambda: int,
    "a module": lambda: MODULE,
    "a tensor": lambda: torch.zeros(2, 3),
    "an empty tensor": lambda: torch.zeros(0),
    "a number of torch's": lambda: torch.tensor(3),
    "an array": lambda: np.zeros((2, 2)),
    "a file": lambda: io.StringIO("x"),
    "an iterator": lambda: iter([1]),
    "a checkpoint": lambda: CHECKPOINT,
    "a recording": lambda: RECORDING,
    "a decoding": lambda: DECODING,
    "a survey": lambda: SURVEY,
}
CALLS = ("a function", "a class", "a module")
"""What may be called: an error of a caller's own function is left to the caller."""
FEW = {name: name for name in ("None", "3", "b'x'", "[None]", "an array", "a recording", "huge")}


def methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name, value in VALUES.items():
        for method in dir(value):
            if not method.startswith("_") and isfunction(getattr(type(value), method, None)):
                yield f"{name}.{method}", getattr(value, method)


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """The public functions; of those that are for two things each, of which one has a name."""
    every = {name: getattr(transformer, name) for name in transformer.__all__}
    every |= {name: getattr(viz, name) for name in viz.__all__}
    for name, each in every.items():
        if not isinstance(each, type) and name not in ("record", "explore"):
            yield name, each
    yield "record", record_open
    yield "record_module", record_module
    yield "Edit", Edit
    yield "Reading", Reading


SUBJECTS = dict([*functions(), *methods()])


def arguments(name: str) -> Iterator[tuple[str, bool]]:
    """The names of a function's arguments, each with whether a call must have it."""
    for each in signature(SUBJECTS[name]).parameters.values():
        if each.kind is not Parameter.VAR_KEYWORD:
            yield each.name, each.default is Parameter.empty
        elif each.name == "look":
            yield from ((it, False) for it in get_type_hints(Look))
        elif name == "decode":
            method = discover("transformer.decoding", "METHOD")["beam"]
            yield from ((it.name, False) for it in method.options)


def right(name: str) -> dict[str, Any]:
    """A right value of each argument that a call must have, or that this one should have."""
    needed = [argument for argument, is_needed in arguments(name) if is_needed]
    return {**{it: RIGHT.get(it) for it in needed}, **OF_ONE.get(name, {})}


def fault(name: str, values: Mapping[str, Any]) -> str:
    """Call it. Returns what is wrong with how it ends; empty: it gives a value, or a sentence."""
    try:
        result = SUBJECTS[name](**values)
        if isgenerator(result):
            list(result)
    except Refusal as refusal:
        sentence = str(refusal)
        is_right = 0 < len(sentence) <= LONGEST + 3 and sentence.isprintable()
        return "" if is_right else f"says {sentence!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return ""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that everything is written to, with a recording and a file that is none."""
    monkeypatch.chdir(tmp_path)
    RECORDING.save("saved.npz")
    (tmp_path / "file").write_text("x")
    return tmp_path


@pytest.mark.filterwarnings("ignore")  # of letters that no typeface has, and of old spellings
@pytest.mark.parametrize("value", cases(WRONG, FEW))
@pytest.mark.usefixtures("folder")
def test_a_wrong_argument_is_refused(value: str) -> None:
    faults = []
    for name in SUBJECTS:
        for argument, _ in arguments(name):
            is_call = argument.startswith("on_") or argument in ("run", "tokenize", "detokenize")
            if (is_call and value in CALLS) or (argument, value) == ("live", "True"):
                continue  # a live page takes seconds
            said = fault(name, {**right(name), argument: WRONG[value]()})
            faults += [f"{name}({argument}={value}): {said}"] * bool(said)
    assert not faults, "\n".join(faults)


@pytest.mark.usefixtures("folder")
def test_what_is_right_is_taken() -> None:
    """Else nothing would be known of what is refused beside it."""
    refused = []
    for name in SUBJECTS:
        try:
            with catch_warnings(action="ignore", category=UserWarning):  # a survey of one sentence
                SUBJECTS[name](**right(name))
        except Refusal:
            refused.append(name)
    assert refused == ["chatting", "pairing", "translating"]  # no such model is small enough


@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("stem", ["missing/x", "file/x", "a\0b", "a" * 5000, "\ud800", "/proc/x"])
def test_a_path_that_takes_nothing_is_refused(stem: str) -> None:
    faults = []
    for name, each in OF_ONE.items():
        for argument in {"path", "data"} & {argument for argument, _ in arguments(name)}:
            path = f"{stem}{Path(each['path']).suffix if argument == 'path' else '.csv'}"
            said = fault(name, {**right(name), argument: path})
            faults += [f"{name}({argument}): {said}"] * bool(said)
    assert not faults, "\n".join(faults)
