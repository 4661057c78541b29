"""Recordings of tiny models with random weights, for everything that draws or exports."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import torch
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime.scriptrunner_utils import script_run_context

from tests.transformer.watch.placed import Alibi, Learned, Stack, Turning
from transformer.checkpoint import About, Checkpoint
from transformer.config import ModelConfig
from transformer.decoding import Candidate, Decoding, decode
from transformer.discover import discover
from transformer.recording import Recording
from transformer.recording.data import Classification, Masked
from transformer.recording.ours import record
from transformer.token import Token
from transformer.tokenizer import NumberTokenizer
from transformer.watch import record_module

NASTY = (
    "<b>x</b>",
    "</script><script>alert(1)</script>",
    "$x_1$",
    "a\nb",
    "`*_~`",
    '",;',
    "\u202e",
)
"""Pieces that Plotly, Markdown, HTML, LaTeX or CSV would read as something else than text."""


MODELS: dict[str, dict[str, Any]] = {
    "translator": {},
    "generator": {"family": "decoder_only", "positions": "learned", "norm_order": "pre"},
    "projected": {"family": "decoder_only", "positions": "concatenated"},
    "mean of 2": {"family": "encoder_classifier", "classes": ("bad", "good")},
    "max of 2": {"family": "encoder_classifier", "classes": ("bad", "good"), "pooling": "max"},
    "mean of 3": {
        "family": "encoder_classifier",
        "classes": ("low", "middle", "high"),
        "positions": "none",
    },
    "max of 3": {
        "family": "encoder_classifier",
        "classes": ("low", "middle", "high"),
        "pooling": "max",
    },
}
"""How each of them differs from the default configuration."""


def random_checkpoint(**more: Any) -> Checkpoint:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = ModelConfig(
        vocab_size=40,
        d_model=16,
        d_ff=32,
        n_heads=2,
        n_encoder_layers=2,
        n_decoder_layers=2,
        max_len=256,
        eos_id=None,
        **more,
    )
    family = discover("transformer.models", "FAMILY")[config.family]
    model = family.build(config).eval().requires_grad_(False)
    about = About("Random", "none", "numbers")
    return Checkpoint(
        Path("random"), about, config, family, model, NumberTokenizer(40), torch.device("cpu")
    )


PLACED = {"alibi": Alibi, "relative": Learned, "rotary": Turning}
"""Layers of modules that are no family of ours, by how they tell positions apart."""


def placed_recording(name: str, n: int) -> Recording:
    """Of two layers over n tokens."""
    torch.manual_seed(0)
    model = Stack(*(PLACED[name]() for _ in range(2))).eval()
    ids = torch.arange(n)[None] * 7 % 50
    return record_module(model, ids, [str(each) for each in ids[0].tolist()])


@pytest.fixture(scope="session", autouse=True)
def installed_components_are_looked_for_once() -> Iterator[None]:
    """Each AppTest reads what all installed packages say of themselves: half of what it takes."""
    with pytest.MonkeyPatch.context() as patch:
        found = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture(scope="session", autouse=True)
def messages_are_not_hashed() -> Iterator[None]:
    """A server does so, to send none twice; nobody receives those of an AppTest."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(script_run_context, "populate_hash_if_needed", lambda message: None)
        yield


@pytest.fixture(autouse=True)
def whole_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a text takes, pages are drawn of all of it: on a busy machine, too."""
    monkeypatch.setattr("viz.ui.progress.LIVE_TEXT_PATIENCE", inf)
    monkeypatch.setattr("viz.ui.progress.LONG", inf)


@pytest.fixture(scope="session")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of checkpoints with the copy task in it, into which nobody writes."""
    folder = tmp_path_factory.mktemp("untouched")
    shutil.copytree(Path(__file__).parents[2] / "checkpoints" / "copy", folder / "copy")
    return folder


@pytest.fixture
def copied(untouched: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """It is what the app lists: what its model has answered is known to the next page."""
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(untouched))
    return untouched


@pytest.fixture(scope="session")
def checkpoint() -> Checkpoint:
    return random_checkpoint()


@dataclass(frozen=True)
class Recorder:
    checkpoint: Checkpoint

    def __call__(self, n_source: int, n_target: int) -> Recording:
        numbers = [str(2 + i % 30) for i in range(max(n_source, n_target))]
        source = " ".join(numbers[:n_source])
        if not self.checkpoint.family.decodes:
            return record(self.checkpoint, source)
        if self.checkpoint.family.reads == "prompt":  # both must fit into one text
            n_target = min(n_target, self.checkpoint.config.max_len - n_source + 1)
        return record(self.checkpoint, source, " ".join(numbers[:n_target]))


@pytest.fixture(scope="session")
def recorder(checkpoint: Checkpoint) -> Callable[[int, int], Recording]:
    """(source tokens, target tokens) -> a recording of that size."""
    return Recorder(checkpoint)


@pytest.fixture(scope="session")
def recording(recorder: Recorder) -> Recording:
    return recorder(7, 5)


@pytest.fixture(scope="session")
def recorders(checkpoint: Checkpoint) -> dict[str, Recorder]:
    """One of each model."""
    others = {name: random_checkpoint(**more) for name, more in MODELS.items() if more}
    return {name: Recorder(each) for name, each in {"translator": checkpoint, **others}.items()}


@pytest.fixture(scope="session")
def recordings(recorders: dict[str, Recorder]) -> dict[str, Recording]:
    """One of each model; "prompt" is one of a text that nothing follows yet."""
    made = {name: recorder(7, 5) for name, recorder in recorders.items()}
    return made | {
        "prompt": record(recorders["generator"].checkpoint, "3 7 2 9"),
        "masked": replace(
            made["translator"], positions={}, masked=tuple(_masked(i) for i in (1, 4))
        ),
        "classified": replace(
            made["translator"],
            positions={},
            classification=Classification(("no", "maybe", "yes"), torch.tensor([0.1, -2.0, 1.5])),
        ),
        "scored": replace(made["translator"], positions={}, numbers={"score": -1.25}),
        **{name: placed_recording(name, 7) for name in PLACED},
    }


def _masked(position: int) -> Masked:
    """Ten candidates of falling probability."""
    tokens = [Token(i, NASTY[i % len(NASTY)]) for i in range(10)]
    best = tuple(Candidate(token, 0.4 / 2**i) for i, token in enumerate(tokens))
    return Masked(position, best, 1 - sum(each.prob for each in best))


@pytest.fixture(scope="session")
def nasty(recording: Recording) -> Recording:
    return with_nasty_words(recording)


@pytest.fixture(scope="session")
def nasty_recordings(recordings: dict[str, Recording]) -> dict[str, Recording]:
    return {name: with_nasty_words(recording) for name, recording in recordings.items()}


def with_nasty_words(recording: Recording, words: Sequence[str] = NASTY) -> Recording:
    """The same recording with pieces, and names of classes, that must all show literally."""
    tokens = tuple(Token(i, words[i % len(words)]) for i in range(40))
    attentions = {
        kind: replace(
            attention,
            queries=tokens[: len(attention.queries)],
            keys=tokens[: len(attention.keys)],
            produced=attention.produced and tokens[: len(attention.produced)],
        )
        for kind, attention in recording.attentions.items()
    }
    positions = {
        side: replace(encoding, tokens=tokens[: len(encoding.tokens)])
        for side, encoding in recording.positions.items()
    }
    found = recording.classification
    return replace(
        recording,
        source=tokens[: len(recording.source)],
        attentions=MappingProxyType(attentions),
        positions=MappingProxyType(positions),
        classification=found and replace(found, classes=tuple(words[: len(found.classes)])),
    )


@pytest.fixture(scope="session")
def decoding(checkpoint: Checkpoint) -> Decoding:
    return decode(checkpoint, "3 7 2 9")
