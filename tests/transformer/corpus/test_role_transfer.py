"""Syntax on both sides of a translation: a planted head carries subjects, one that knows places
does what the offset does."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.transformer.corpus.test_survey import one_hot
from transformer import InputError, load_checkpoint
from transformer.__main__ import main
from transformer.corpus.syntax import ROLE_TRANSFER_LEAST, RoleTransferTally, role_transfer
from transformer.corpus.trees import Tree, read_trees
from transformer.token import Token

SOURCE = Tree("he saw him", ("he", "saw", "him"), (1, None, 1), ("nsubj", "root", "obj"))
TARGET = Tree("ihn sah er", ("ihn", "sah", "er"), (1, None, 1), ("obj", "root", "nsubj"))
CONTRACTED = """\
# text = am Montag
1-2\tam\t_\t_\t_\t_\t_\t_\t_\t_
1\tan\tan\tADP\t_\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\t_\t_\t3\tdet\t_\t_
3\tMontag\tMontag\tNOUN\t_\t_\t0\troot\t_\t_
"""


def tokens(tree: Tree) -> tuple[Token, ...]:
    return tuple(Token(3 + at, f"▁{text}") for at, (text, _) in enumerate(tree.written))


def pair(*heads: list[int]) -> Any:
    """Cross-attention whose heads look at these source words, a number per written word."""
    weights = torch.tensor([one_hot(head) for head in heads])
    words = tokens(TARGET)
    cross = SimpleNamespace(
        n_layers=1, queries=words, produced=words, keys=tokens(SOURCE), weights=lambda _: weights
    )
    return {"cross": cross}


def test_a_head_that_carries_subjects_is_told_from_one_that_knows_places() -> None:
    tally = RoleTransferTally()
    for _ in range(ROLE_TRANSFER_LEAST):
        tally.add(SOURCE, TARGET, pair([2, 1, 0], [0, 1, 2], [1, 1, 1]))
    result = {each.relation: each for each in tally.result().relations}
    assert result["nsubj"].rates.tolist() == [[1.0, 0.0, 0.0]]
    assert result["nsubj"].best == (0, 0) and result["nsubj"].n_words == ROLE_TRANSFER_LEAST
    assert result["root"].rates.tolist() == [[1.0, 1.0, 1.0]]
    # The subject stands two places before the diagonal in all of them: an offset finds it, too.
    assert (result["nsubj"].offset, result["nsubj"].by_offset) == (-2, 1.0)
    assert (result["root"].offset, result["root"].by_offset) == (0, 1.0)
    assert result["nsubj"].by_chance == pytest.approx(1 / 3)
    assert result["nsubj"].n_above == 0  # what the offset gives as well is no sign of syntax


def test_words_that_are_written_as_one_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "trees.conllu"
    file.write_text(CONTRACTED)
    (tree,) = read_trees(file)
    assert tree.written == [("am", None), ("Montag", 2)]
    source = Tree("on Monday", ("on", "Monday"), (1, None), ("case", "root"))
    cross = SimpleNamespace(
        n_layers=1,
        queries=tokens(tree),
        produced=tokens(tree),
        keys=tokens(source),
        weights=lambda _: torch.tensor([[[0.9, 0.1], [0.2, 0.8]]]),
    )
    tally = RoleTransferTally()
    for _ in range(ROLE_TRANSFER_LEAST):
        tally.add(source, tree, {"cross": cross})
    assert [each.relation for each in tally.result().relations] == ["root"]


def test_relations_that_are_rare_are_not_told() -> None:
    tally = RoleTransferTally()
    tally.add(SOURCE, TARGET, pair([2, 1, 0]))
    assert not tally.result().relations and tally.result().n_sentences == 1


def test_what_cannot_be_read_is_refused_in_a_sentence() -> None:
    sentiment = load_checkpoint(Path("checkpoints/sentiment"), "cpu")
    with pytest.raises(InputError, match="no cross-attention"):
        role_transfer(sentiment, [SOURCE], [TARGET])
    translator = load_checkpoint(Path("checkpoints/en-de-small"), "cpu")
    with pytest.raises(InputError, match="1 trees of sources and 0"):
        role_transfer(translator, [SOURCE], [])


def test_the_command_writes_both_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = "1\the\the\tP\t_\t_\t2\tnsubj\t_\t_\n2\tsleeps\ts\tV\t_\t_\t0\troot\t_\t_\n\n"
    source, target, out = (tmp_path / name for name in ("a.conllu", "b.conllu", "page.md"))
    source.write_text(ROLE_TRANSFER_LEAST * lines)
    target.write_text(ROLE_TRANSFER_LEAST * lines.replace("he", "er").replace("sleeps", "schläft"))
    arguments = ["syntax", "en-de-small", "--device", "cpu", "--out", str(out)]
    assert main([*arguments, "--trees", str(source), str(target)]) == 0
    printed = capsys.readouterr().out
    assert "| nsubj | 50 |" in printed and "| root | 50 |" in printed
    assert printed.strip() in out.read_text() and "says little" not in printed


def test_shares_over_few_sentences_are_said_to_say_little(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both tables, each by the relation that fewest sentences have."""
    subjects = "".join(f"{n}\the\the\tP\t_\t_\t21\tnsubj\t_\t_\n" for n in range(1, 21))
    lines = f"{subjects}21\tsleeps\ts\tV\t_\t_\t0\troot\t_\t_\n\n"
    source, target = (tmp_path / name for name in ("a.conllu", "b.conllu"))
    source.write_text(3 * lines)
    target.write_text(3 * lines.replace("he", "er").replace("sleeps", "schläft"))
    arguments = ["syntax", "en-de-small", "--device", "cpu", "--trees", str(source), str(target)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert printed.count("| nsubj | 60 |") == 2 and printed.count("over 3 sentences") == 2


def test_every_command_that_prints_intervals_says_where_they_are_too_narrow() -> None:
    commands = (Path(__file__).parents[3] / "transformer" / "commands").glob("*.py")
    texts = {file.stem: file.read_text() for file in commands}
    printing = {name for name, text in texts.items() if "95 %" in text}
    assert {"sweep", "syntax", "changes"} <= printing
    assert printing <= {name for name, text in texts.items() if "caution(" in text}


def test_a_treebank_of_one_side_has_a_page_and_three_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "1\the\the\tP\t_\t_\t2\tnsubj\t_\t_\n2\tsleeps\ts\tV\t_\t_\t0\troot\t_\t_\n\n"
    source, out = tmp_path / "mine.conllu", tmp_path / "page.md"
    source.write_text(ROLE_TRANSFER_LEAST * lines)
    arguments = ["syntax", "en-de-small", "--device", "cpu", "--out", str(out), "--trees"]
    assert main([*arguments, str(source), "--about", "Trees of mine, CC0."]) == 0
    text = out.read_text()
    assert "Trees of mine, CC0." in text and "mine.conllu" in text and "PUD" not in text
    assert "| nsubj | 50 |" in text
    assert main([*arguments, *[str(source)] * 3]) == 1
    assert "one file, or two" in capsys.readouterr().err
