"""A module of one's own in the app: every page shows it, and what its author got wrong is said."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from torch import nn

from tests.transformer.own_module.test_examples import built
from tests.viz.ui.test_app import components, pictures, said, start, widget
from tests.viz.ui.test_branches import typed
from transformer import CheckpointError, InputError, from_module, record
from transformer.formats import own_module
from transformer.formats.own_module import offer
from viz import explore
from viz.commands.opening import built as built_by
from viz.state.checkpoints import find

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def path() -> Iterator[Path]:
    """Where the digits' module is offered."""
    yield offer(built("digits"))
    own_module._OFFERED.clear()


@pytest.mark.parametrize("page", ["explore", "compare", "masks", "positions", "inspect"])
def test_every_page_shows_it(path: Path, page: str) -> None:
    app = start(page=page)
    assert not said(app)
    assert widget(app.selectbox, "checkpoint").options[0] == "DigitNames · a module of your own"


def test_it_decodes_by_each_method(path: Path) -> None:
    for method in ("greedy", "beam", "sample"):
        app = start(page="decode", decoding=method)
        assert not said(app) and "decode_player" in components(app)


def test_a_target_is_typed_on_decode(path: Path) -> None:
    app = start(page="decode", text="12", decoding="beam")
    typed(app, "Begin with", "nine six")
    typed(app, "Must have", "four")
    assert not said(app)
    pieces = [it.piece for it in app.session_state["session"].answer.recording.target]
    assert pieces[:2] == ["nine", "six"] and "four" in pieces
    typed(app, "Begin with", "ninety")
    assert "target_tokenize failed at line " in said(app)
    app = start(page="decode", text="12", decode_as="reference", reference="two one")
    assert not said(app)


def test_an_error_of_ones_own_function_leaves_the_last_picture(path: Path) -> None:
    app = start(text="12")
    app.text_input[0].set_value("1x").run()
    assert not app.exception and pictures(app)
    assert "tokenize failed at line " in said(app) and "digits.py: Value" in said(app)


def test_a_path_that_is_typed_runs_nothing(path: Path) -> None:
    for text in (str(path), str(path.parent)):
        with pytest.raises(CheckpointError):
            find(text)


def test_explore_says_at_once_what_does_not_run() -> None:
    with pytest.raises(InputError, match=r"^Linear failed: TypeError: "):
        explore(nn.Linear(2, 2), lambda text: [1], "ab", "ab", writes="target", start="a")
    with pytest.raises(InputError, match="tokenize must give the ids"):
        explore(from_module(nn.Linear(2, 2), len, "ab", "ab"))


OWN = from_module(nn.Linear(2, 2), len, "ab", "ab")


@pytest.mark.parametrize(
    ("args", "options", "says"),
    [
        ((nn.Linear(2, 2),), {}, "^explore: .*tokenize"),
        ((nn.Linear(2, 2), len, "ab"), {"wriets": "nothing"}, "^explore: .*wriets"),
        ((OWN,), {"wriets": "nothing"}, "wriets to from_module"),
        ((OWN, len, "ab"), {}, "the function len to from_module"),
        (("copy",), {}, "live=True.*CHECKPOINT=copy"),
        (("copy", "a text"), {"live": True}, "nothing else"),
        ((OWN,), {"port": 80_000}, "port from 1 to 65535"),
        ((OWN,), {"port": 0}, "port from 1 to 65535"),
    ],
)
def test_explore_refuses_what_it_does_not_take(
    args: tuple[object, ...], options: dict[str, object], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        explore(*args, **options)  # type: ignore[call-overload]


def test_record_refuses_what_it_does_not_take() -> None:
    with pytest.raises(InputError, match=r"^record: .*inputs"):
        record(nn.Linear(2, 2))  # type: ignore[call-overload]
    with pytest.raises(InputError, match="an instance with its weights, not the class Linear"):
        record(nn.Linear, [1])  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (None, "There is no "),
        ("", "has no function build"),
        ("def build():\n    return 3", "must return what from_module gives; it returned int"),
        ("def build():\n    1 / 0", r"build failed at line 2 of own\.py: Zero"),
        ("\n\nimport nothing_of_this_name", r"own\.py failed at line 3 of own\.py: Module"),
    ],
)
def test_a_script_that_builds_nothing_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str | None, said: str
) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path])
    if script is not None:
        (tmp_path / "own.py").write_text(script)
    with pytest.raises(CheckpointError, match=said):
        built_by(f"{tmp_path / 'own.py'}:build")


IN_A_NOTEBOOK = """
import json, sys, urllib.request
import torch
from viz import explore
sys.ps1 = ">>> "
main = sys.modules["__main__"]
layer = torch.nn.TransformerEncoderLayer(4, 2, 4, batch_first=True)
table = torch.nn.Embedding(3, 4)
said = dict(tokenize=lambda text: [ord(c) - 97 for c in text], pieces="abc", examples="abcab")
said |= dict(run=lambda ids: layer(table(ids)), opens_browser=False)
first = explore(layer, **said)
second = explore(layer, **said)
health = urllib.request.urlopen(first + "/_stcore/health").read().decode()
print(json.dumps([first == second, health, sys.modules["__main__"] is main]))
"""


@pytest.mark.thorough  # that one joins the other: tests/test_installed.py, in its own process
def test_in_a_notebook_it_returns_and_a_second_one_joins_the_first() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_A_NOTEBOOK], cwd=ROOT, capture_output=True, text=True, timeout=90
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1]) == [True, "ok", True]
