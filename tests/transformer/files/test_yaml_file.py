"""One map of names and values, in whatever style; what nests is passed over, or refused."""

import pytest

from transformer.files.yaml_file import yaml_leaves, yaml_pairs


def pairs(text: str) -> dict[str, str | None]:
    return {name: value for name, value, _ in yaml_pairs(text)}


def test_every_value_is_a_text() -> None:
    text = "a: no\nb: ~\nc: 1\n? 'it''s'\n: \"\\u00e9\\t\"\nnull: 0x1F\n"
    assert pairs(text) == {"a": "no", "b": "~", "c": "1", "it's": "é\t", "null": "0x1F"}


def test_what_nests_is_passed_over() -> None:
    assert pairs("a: 1\ndims:\n  - 1\n  - {x: [2]}\nb: 2") == {"a": "1", "dims": None, "b": "2"}
    assert pairs("x: &all [1]\ny: *all") == {"x": None, "y": None}
    assert pairs("") == {}


def test_a_long_name_stands_after_a_question_mark() -> None:
    assert pairs(f"? {'x' * 2000}\n: 3") == {"x" * 2000: "3"}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- a", "line 1 is not a name with its value"),
        ("text", "line 1 is not a name"),
        ("a: 1\n---\ntext", "line 3 is not a name"),
        ("a: 1\n[b]: 2", "line 2 has a name that is not a text"),
        ("a: 1\nb: c: d", "line 2 is not YAML: "),
        ("a: 'b", "line . is not YAML: "),
        ("a: 1\n\x07: 2", r"line 2 holds the character U\+0007, which YAML does not allow"),
        ("\ufffe: 1", r"line 1 holds the character U\+FFFE"),
        ("a: " + "[" * 100_000, "line 1 is more than 1,000 maps and lists deep"),
        ("- " * 100_000 + "a", "line 1 is not a name"),
        ("? " * 100_000 + "a", "line 1 has a name that is not a text"),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        pairs(text)


def test_values_at_any_depth_by_their_paths() -> None:
    text = "model:\n  layers: 6\n  sides: [{heads: 4}, {heads: 8}]\nname: a\nempty: {}\n"
    paths = {"model.layers": "6", "model.sides.0.heads": "4", "model.sides.1.heads": "8"}
    assert dict(yaml_leaves(text)) == {**paths, "name": "a"}
    assert dict(yaml_leaves("")) == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: " + "[" * 100_000, "line 1 is more than 20 maps and lists deep"),
        ("? " * 100_000 + "a", "line 1 has a name that is not a text"),
        ("a: {b: 1", "line . is not YAML: "),
    ],
)
def test_depth_that_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        dict(yaml_leaves(text))
