"""Tokens of two texts that stand for each other."""

import pytest

from transformer.token import Token
from transformer.two_models.head_changes import counterparts


def tokens(text: str) -> list[Token]:
    return [Token(i, piece) for i, piece in enumerate(text.split())]


@pytest.mark.parametrize(
    ("text", "other", "expected"),
    [
        ("▁a ▁b ▁c", "▁a ▁b ▁c", [0, 1, 2]),
        ("▁a ▁b ▁c", "▁a ▁c", [0, -1, 1]),
        ("▁a ▁b ▁c", "▁a ▁x ▁c", [0, 1, 2]),  # as many words between common ones
        ("▁a ▁b ▁b ▁c", "▁a ▁x ▁c", [0, -1, -1, 2]),
        ("▁hou se ▁is", "▁the ▁h ous e ▁is", [1, 2, 4]),  # a word that is cut otherwise
        ("▁h ous e", "▁hou se", [0, 1, 1]),
        ("▁a", "", [-1]),
        ("", "▁a", []),
    ],
)
def test_words_stand_for_each_other(text: str, other: str, expected: list[int]) -> None:
    assert counterparts(tokens(text), tokens(other)) == expected
