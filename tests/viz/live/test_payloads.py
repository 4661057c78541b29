"""The payloads that the browser packs are those of Python, field by field and array by array."""

import random
import re
import shutil
import sys
from base64 import b64decode
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.mutants.faults import FAULTS, Fault
from tests.representatives import MARK, cases
from tests.viz.live.engine import texts
from tests.viz.live.payloads import (
    ROOT,
    Case,
    Comparison,
    Found,
    differences,
    packed,
    tables_of,
)
from transformer import load_checkpoint, record
from transformer.analysis.ablation import heads_off
from transformer.causes.change import ChangeSearch, Difference, SmallestChange
from transformer.refusal import visible
from transformer.token import Token
from transformer.words import text_words, word_groups
from viz.causes.change import button_of
from viz.components.decode_player.decode_player import is_part, word_so_far
from viz.components.kit.browser import pieces, pieces_of_words, unpack
from viz.labels import word_text
from viz.live.tables import characters

SENTENCES = Path(__file__).with_name("sentences.txt").read_text("utf-8").splitlines()
ODD = "C++ isn't 3.50 € 😀 or 日本語 – “ok”?"
CHANGES = ("head-off:cross.1.2", "hide:source.2")
SPREAD = {
    "en-de": [
        Case(SENTENCES[0], "greedy", True, "hidden"),
        Case(SENTENCES[0], "beam", False, "shown"),
        Case(SENTENCES[1], "beam", True, "shown"),
        Case(SENTENCES[1], "greedy", False, "hidden"),
        Case(ODD, "beam", True, "hidden"),
        Case(ODD, "greedy", False, "shown"),
    ],
    "en-de-small": [
        Case(SENTENCES[2], "beam", True, "hidden"),
        Case(SENTENCES[2], "greedy", False, "shown"),
        Case(SENTENCES[40], "greedy", True, "shown"),
        Case(SENTENCES[2], "beam", True, "shown", CHANGES),
        Case(ODD, "beam", False, "hidden"),
    ],
    "en-de-1": [
        Case(SENTENCES[3], "greedy", True, "shown"),
        Case(SENTENCES[3], "beam", False, "hidden"),
        Case(SENTENCES[13], "beam", True, "hidden"),
        Case(SENTENCES[3], "greedy", False, "shown", CHANGES),
        Case(ODD, "greedy", True, "hidden"),
    ],
    "copy": [
        Case("3 7 2 9 4 11 5", "greedy", True, "shown"),
        Case("2 2 2 5", "beam", False, "hidden", ("hide:source.2",)),
        Case("4", "beam", True, "hidden"),
    ],
    "everyday": [
        Case("I would like to", "greedy", True, "hidden"),
        Case("She told me that she", "beam", False, "shown"),
        Case("The weather is", "beam", True, "shown", ("head-off:decoder_self.1.2", "hide:text.1")),
        Case(ODD, "greedy", False, "hidden"),
    ],
    "shakespeare": [
        Case("ROMEO: O, she doth teach", "greedy", True, "shown"),
        Case("To be,\nor not", "beam", False, "hidden"),
        Case("K", "greedy", True, "hidden"),
    ],
    "sentiment": [
        Case("A gorgeous, witty and moving film.", words=True, special="shown"),
        Case(ODD, words=False, special="hidden", changes=("hide:text.1",)),
        Case("Bad.", words=True, special="hidden", changes=("head-off:encoder_self.0.1",)),
    ],
    "sentiment-mean": [Case("The plot is dull and it goes on far too long.")],
}
"""Cases that differ in how they are decoded and read, by checkpoint."""
FEW = {
    "two languages": "en-de-small",
    "numbers": "copy",
    "a text that goes on": "shakespeare",
    "a class": "sentiment",
}
MOST_TIES = 0.01
"""The share of values that only the order of sums may tell apart."""


@pytest.mark.parametrize("name", cases(SPREAD, FEW))
def test_the_browser_packs_what_python_packs_of_the_same_numbers(name: str) -> None:
    found = differences(name, SPREAD[name], by_engine=False)
    assert not found.lines, "\n".join(found.lines)
    assert found.n_compared > 1_000


@pytest.mark.parametrize("name", cases(SPREAD, FEW))
def test_the_browsers_engine_and_its_payloads_say_what_python_says(name: str) -> None:
    check_by_engine(name, SPREAD[name])


FIFTHS = range(5)


@pytest.mark.parametrize(
    ("name", "words", "fifth"),
    [pytest.param(*each, marks=MARK) for each in product(SPREAD, (True, False), FIFTHS)],
)
def test_so_they_do_of_fifty_sentences(name: str, words: bool, fifth: int) -> None:
    every = [
        Case(text, ("greedy", "beam")[i % 2], words, ("shown", "hidden")[i // 2 % 2])
        for i, text in enumerate(SENTENCES if name.startswith("en-de") else texts(name))
    ]
    found = differences(name, every[fifth :: len(FIFTHS)], by_engine=False)
    assert not found.lines, "\n".join(found.lines)
    check_by_engine(name, every[fifth :: len(FIFTHS)])


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["encoder_self", "decoder_self"])
def test_so_they_do_of_a_text_of_which_the_strongest_lines_are_sent(kind: str) -> None:
    every = [Case(" ".join(SENTENCES[:16]), words=False, place=(kind, 1, 2))]
    found = differences("en-de", every, by_engine=False)
    assert not found.lines, "\n".join(found.lines)
    check_by_engine("en-de", every)


def check_by_engine(name: str, every: list[Case]) -> None:
    found = differences(name, every, by_engine=True)
    print(f"{name}: {found.n_ties} ties among {found.n_compared} values of {len(every)} cases")
    assert not found.lines, "\n".join(found.lines)
    assert found.n_ties <= MOST_TIES * found.n_compared


def test_the_button_that_changes_what_is_written_says_the_same() -> None:
    checkpoint = load_checkpoint(ROOT / "checkpoints" / "en-de")
    recording = record(checkpoint, "It rains.", "Es regnet.")
    heads = tuple(edit for edit in heads_off(checkpoint) if edit.place == "cross")
    differ = Difference("negation", "nicht", ""), Difference("number", "3", "4")
    lost = Difference("word", "eine rote", "")
    found = [
        *(SmallestChange(heads[: i + 1], it, "Es schneit.", False) for i, it in enumerate(differ)),
        SmallestChange(heads[:1], lost, "\u202eEs", False),
        *(SmallestChange(heads[:n], differ[0], "Es", True) for n in (1, 3)),
    ]
    given = packed("en-de", [{"change": _change(each)} for each in found])
    for change, own in zip(found, given, strict=True):
        header, _ = unpack(b64decode(own))
        assert header["offer"] == button_of(recording, "an answer", ChangeSearch(change))
    known = tables_of("en-de")["change_offer"]
    assert known["carriers"][0] == ["head-off:cross.1.7"] and known["patterns"]["negating"]


def _change(each: SmallestChange) -> dict[str, Any]:
    """As the engine gives it."""
    of = each.difference
    return {
        "heads": [*map(str, each.heads)],
        "difference": {"kind": of.kind, "gone": of.gone, "came": of.came},
        "text": each.text,
        "isKnown": each.is_known,
    }


# What a fault is called.

NAMED = {
    "live-word-after-bytes": "",
    "live-space-of-word": "",
    "live-digits-of-candidates": "decode_player.steps.candidates",
    "live-mean-of-rows": "head_view, array 0",
    "live-rows-without-choice": "head_grid decoder_self, array 1",
    "live-queries-with-key": "head_grid encoder_self, array 3",
    "live-notes-of-head": "head_map.notes",
    "live-closed-cells": "head_view.closed",
    "live-entropy-of-word": "token_rows.certainty",
    "live-other-candidates": "decode_player.steps.n_rest",
    "live-rank-of-leaves": "search_tree, array 0",
}
"""Faults of `tests.mutants` -> what they are found by; "": by the words of tokens alone."""
PLANTED = [fault for fault in FAULTS if fault.file.startswith("viz/live/payloads/")]


@pytest.mark.parametrize(
    "fault", cases(PLANTED, {"a field": PLANTED[6], "an array": PLANTED[3]}), ids=lambda it: it.name
)
def test_a_fault_is_found_by_the_name_of_its_field(fault: Fault, tmp_path: Path) -> None:
    for folder in ("viz/live", "viz/components/kit"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    fault.put_in(tmp_path)
    live, name = tmp_path / "viz" / "live", "en-de-small"
    if not NAMED[fault.name]:
        tokens = [[Token(0, "<0xE2>"), Token(1, "▁a")], [Token(0, "▁"), Token(1, "b")]]
        given = packed(name, [{"tokens": [vars(it) for it in each]} for each in tokens], live)
        assert given != [spelled(each) for each in tokens]
        return
    found = differences(name, SPREAD[name], by_engine=False, live=live)
    assert any(line.startswith(f"{NAMED[fault.name]}:") for line in found.lines), found.lines


def test_a_field_that_one_side_lacks_is_named() -> None:
    found = Found()
    Comparison(found, "here", is_exact=True).value("head_map", {"a": {"b": 1}, "c": 2}, {"a": {}})
    assert [line.partition(" (")[0] for line in found.lines] == [
        "head_map.a.b: the browser lacks it",
        "head_map.c: the browser lacks it",
    ]


# Words and labels, which every payload has.


def test_the_browser_reads_pieces_as_python_does() -> None:
    """Of characters of every class, of bytes that spell them and of some that spell none."""
    drawn = random.Random(0)
    texts = [tokens_of(drawn) for _ in range(2000)]
    given = packed("en-de-small", [{"tokens": [vars(it) for it in tokens]} for tokens in texts])
    for tokens, own in zip(texts, given, strict=True):
        assert own == spelled(tokens), tokens


def tokens_of(drawn: random.Random) -> list[Token]:
    alphabet = "ab9 ▁'.-,\u200d\u0301éאקあ漢กกို🏳️‍🌈👨‍👩🇩🇪🏴󠁧󠁢󠁷󠁬󠁳󠁿\u202e\u2028\n\t\u00ad€“"
    tokens = []
    for id in range(drawn.randrange(1, 12)):
        kind = drawn.random()
        code = drawn.choice([drawn.randrange(0xD800), drawn.randrange(0xE000, sys.maxunicode)])
        length = drawn.randrange(4)
        text = "".join(drawn.choice(alphabet) for _ in range(length)) + chr(code) * (kind > 0.8)
        if kind < 0.15:
            tokens.append(Token(id, f"<0x{drawn.choice((*'ä漢😀'.encode(), 32, 65, 127)):02X}>"))
        else:
            tokens.append(Token(id, text, special=kind < 0.2, unknown=0.2 < kind < 0.22))
    return tokens


def spelled(tokens: list[Token]) -> dict[str, Any]:
    groups = word_groups(tokens)
    return {
        "word_groups": [list(group) for group in groups],
        "pieces": [list(piece) for piece in pieces(tokens)],
        "pieces_of_words": [
            [list(piece) for piece in pieces_of_words(tokens, words)] for words in (True, False)
        ],
        "word_text": [word_text([tokens[i] for i in group]) for group in groups],
        "word_so_far": [word_so_far(tokens[:i], token) for i, token in enumerate(tokens)],
        "is_part": [is_part(token) for token in tokens],
        "visible": [visible(token.piece) for token in tokens],
        "text_words": text_words("".join(token.piece for token in tokens)),
    }


def test_the_tables_know_every_code_point() -> None:
    known = characters()
    assert sum(known["classes"]["lengths"]) == sum(known["hidden"]) == sys.maxunicode + 1
    assert len(known["classes"]["lengths"]) == len(known["classes"]["values"])
    re.compile(known["rule"])
    re.compile(known["joined"])
