"""A sentence that cannot be read costs itself alone, and the reason is kept, wherever it is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from tests.representatives import cases
from transformer import Checkpoint, InputError, from_module, load_checkpoint, survey
from transformer.__main__ import main
from transformer.corpus.shipping import sentences_in, shipping
from transformer.two_models.changed_heads import changed_heads

GOOD, LONG = "3 7 2", "3 " * 300
BAD = {"empty": "", "spaces": " \t ", "long": LONG, "unknown": "a b"}
"""What is wrong -> a line that `copy` refuses."""
LINES = [GOOD, *BAD.values(), "5 6"]
NUMBERS = [2, 3, 4, 5]


class Picky(nn.Module):
    """A module of somebody's own, which fails at one token."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.words = nn.Embedding(5, 8)
        self.attend = nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        if bool((ids == 4).any()):
            raise RuntimeError("no 4")
        x = self.words(ids)
        return self.attend(x, x, x)[0]  # type: ignore[no-any-return]


def numbers(reasons: Any) -> list[int]:
    assert all(" is left out: " in each and each.endswith(".") for each in reasons)
    return [int(each.split()[1]) for each in reasons]


def in_shell(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    assert main([*map(str, arguments), "--json"]) == 0
    printed = capsys.readouterr()
    result = json.loads(printed.out)
    at_end = arguments[0] in ("align", "changes", "ship-survey")  # with what is printed there
    assert at_end or all(why in printed.err for why in result["left_out"])
    return result["left_out"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    file = tmp_path / "lines.txt"
    file.write_text("\n".join([*LINES[:2], "\t3", *LINES[3:]]) + "\n")
    return file


@pytest.mark.parametrize("bad", BAD)
def test_one_bad_sentence_leaves_the_others(bad: str) -> None:
    result = survey(load_checkpoint("copy", "cpu"), [GOOD, BAD[bad], "5 6"])
    assert result.n_sentences == 2 and numbers(result.left_out) == [2]
    assert "1 left out" in repr(result)
    alone = survey(load_checkpoint("copy", "cpu"), [GOOD, "5 6"])
    for head, other in zip(result.heads, alone.heads, strict=True):
        assert {name: each.mean for name, each in head.numbers.items()} == pytest.approx(
            {name: each.mean for name, each in other.numbers.items()}, nan_ok=True
        )


def test_where_none_can_be_read_the_first_reason_is_said() -> None:
    with pytest.raises(InputError, match="can be surveyed: line 1 is left out: The text is empty"):
        survey(load_checkpoint("copy", "cpu"), list(BAD.values()))


def test_a_target_that_cannot_be_read() -> None:
    result = survey(load_checkpoint("copy", "cpu"), [GOOD, "5 6"], ["3 7 2", LONG])
    assert result.n_sentences == 1 and numbers(result.left_out) == [2]


def test_a_module_that_fails_on_one_sentence() -> None:
    """It is read one by one, and what it raises is about that text."""
    tokenize: Callable[[str], list[int]] = lambda text: [int(each) for each in text.split()]  # noqa: E731
    checkpoint = from_module(Picky(), tokenize, list("abcde"), "1 2")
    result = survey(checkpoint, ["1 2", "3 4", "2 3"])
    assert result.n_sentences == 2 and numbers(result.left_out) == [2]


COMMANDS: dict[str, Callable[[Path, Path], tuple[object, ...]]] = {
    "survey": lambda data, out: ("survey", "copy", "--data", data, "--out", out),
    "sweep": lambda data, out: ("sweep", "copy", "--data", data),
    "align": lambda data, out: ("align", "copy", data),
    "changes": lambda data, out: ("changes", "copy", "copy", "--data", data),
    "ship-survey": lambda data, out: ("ship-survey", "copy", "--data", data, "--out", out),
}


@pytest.mark.parametrize(
    "command", cases(COMMANDS, {"a survey in parts": "survey", "each line by itself": "sweep"})
)
def test_in_a_shell_the_same(
    command: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if command == "survey":
        pytest.importorskip("pyarrow")
    left_out = in_shell(capsys, *COMMANDS[command](data, tmp_path / "out"))
    assert numbers(left_out) == NUMBERS


def test_two_checkpoints_and_what_is_shipped(data: Path) -> None:
    checkpoint: Checkpoint = load_checkpoint("copy", "cpu")
    assert numbers(changed_heads(checkpoint, checkpoint, LINES).left_out) == NUMBERS
    *_, gathered = shipping(checkpoint, sentences_in(data))
    assert numbers(gathered.left_out) == NUMBERS and gathered.n_done == len(LINES)


def test_a_tree_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its whole file was counted, and nothing said that it was not read."""
    word = "{n}\t{word}\t{word}\tP\t_\t_\t{head}\t{name}\t_\t_\n"
    one = word.format(n=1, word="3", head=2, name="nsubj") + word.format(
        n=2, word="7", head=0, name="root"
    )
    file = tmp_path / "trees.conllu"
    file.write_text(f"{one}\n{one.replace('3', 'unknown')}\n{one}\n")
    left_out = in_shell(capsys, "syntax", "copy", "--trees", file)
    assert numbers(left_out) == [2]
