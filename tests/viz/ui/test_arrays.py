"""A file of attention weights in the app: every page shows it, or says in a sentence why not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
import torch

from tests.representatives import cases
from tests.viz.places import PLACES
from tests.viz.ui.test_app import components, said, start
from transformer import CheckpointError, decode, evidence, from_weights, load_checkpoint, record
from transformer import survey as survey_of
from transformer.analysis.ablation import sweep
from transformer.refusal import Refusal
from transformer.token import Token
from viz.state import checkpoints
from viz.state.checkpoints import LARGEST_DROPPED, find, open_dropped

torch.manual_seed(2)
TEXTS = {"queries": ["Es", "regnet", "."], "keys": ["It", "rains", "now", "."]}
EVERY = [(page, query) for page, queries in PLACES.items() for query in queries]
FEW = {page: (page, queries[0]) for page, queries in PLACES.items()}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Weights that do not sum to 1, and a recording of q, k and v."""
    folder = tmp_path_factory.mktemp("arrays")
    alone = from_weights({"cross": 0.9 * torch.rand(2, 4, 3, 4).softmax(-1)}, **TEXTS)
    parts = {"q": torch.rand(2, 4, 5, 6), "k": torch.rand(2, 2, 5, 6), "v": torch.rand(2, 2, 5, 6)}
    tokens = [Token(7 + i, f"▁{piece}") for i, piece in enumerate("abcde")]
    whole = from_weights({"decoder_self": parts}, queries=tokens)
    return {
        "weights": alone.save(folder / "weights.npz"),
        "parts": whole.save(folder / "parts.npz"),
    }


@pytest.mark.parametrize(("page", "query"), cases(EVERY, FEW))
def test_every_page_shows_it_or_says_why_not(page: str, query: str, files: dict[str, Path]) -> None:
    chosen = {name: value for name, value in parse_qsl(query) if name != "text"}
    for file in files.values():
        app = start(page=page, **{**chosen, "checkpoint": str(file)})
        assert "has a fault" not in said(app)
        if page == "explore" and "inside" not in query:
            assert {"head_grid", "head_map"} & {*components(app)}


def test_a_file_of_arrays_is_a_checkpoint_of_one_text(files: dict[str, Path]) -> None:
    assert find(str(files["weights"])) == [files["weights"]]
    checkpoint = load_checkpoint(files["weights"])
    (text,) = checkpoint.about.examples
    assert text == "It rains now ." and "0.90" in checkpoint.about.notes[1]
    recording = record(checkpoint, text)
    assert [token.piece for token in recording.target] == TEXTS["queries"]


COMPUTED: dict[str, Callable[..., Any]] = {
    "another text": lambda it, text: record(it, "Another."),
    "a target": lambda it, text: record(it, text, "Es"),
    "an edit": lambda it, text: record(it, text, edits=["head-off:cross.0.1"]),
    "a hidden word": lambda it, text: record(it, text, edits=["hide:source.0"]),
    "decode": decode,
    "evidence": evidence,
    "survey": lambda it, text: survey_of(it, [text]),
    "sweep": lambda it, text: list(sweep(it, text)),
}


@pytest.mark.parametrize("what", COMPUTED)
def test_what_needs_a_model_is_refused_in_a_sentence(what: str, files: dict[str, Path]) -> None:
    for file in files.values():
        checkpoint = load_checkpoint(file)
        with pytest.raises(Refusal):
            COMPUTED[what](checkpoint, checkpoint.about.examples[0])


@pytest.fixture
def at_home(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.delenv("HEADSCOPE_FOLDERS", raising=False)
    monkeypatch.setattr(checkpoints, "is_public", lambda: False)
    monkeypatch.setattr(checkpoints, "keep_opened", lambda paths: str(paths[0]))
    return monkeypatch


def test_a_dropped_file_is_kept_for_as_long_as_the_process(
    files: dict[str, Path], at_home: pytest.MonkeyPatch
) -> None:
    content = files["weights"].read_bytes()
    name = open_dropped("../../<b>mine</b>.npz", content)
    assert Path(name).read_bytes() == content and find(name) == [Path(name)]
    assert Path(name).parents[1] == Path(checkpoints._dropped_folder().name)
    assert open_dropped("../../<b>mine</b>.npz", content) == name


def test_what_is_dropped_and_not_taken(
    files: dict[str, Path], at_home: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    content = files["weights"].read_bytes()
    cut = {"a.npz": content[:-99], "b.npz": b"", "c.safetensors": b"{}", "d.pkl": content}
    cut["e.npz"] = bytes(LARGEST_DROPPED + 1)
    for name, wrong in cut.items():
        with pytest.raises(Refusal):
            open_dropped(name, wrong)
    at_home.setattr(checkpoints, "is_public", lambda: True)
    with pytest.raises(CheckpointError):
        open_dropped("mine.npz", content)
    at_home.setattr(checkpoints, "is_public", lambda: False)
    at_home.setenv("HEADSCOPE_FOLDERS", str(tmp_path))
    with pytest.raises(CheckpointError):
        open_dropped("mine.npz", content)
