"""Plain English on screen: constructions that read as translated are not used."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
COUNTED = (
    "lines?|keys?|nats?|bits?|rows?|columns?|cells?|bytes?|numbers?|tokens?|heads?|steps?|files?|"
    "sentences?|maps?|layers?|values?|words?|pages?|folders?|curves?|points?|modules?|threads?|"
    "perplexity"
)
UNITS = (
    f"{COUNTED}|query|kind|piece|pass|request|session|process|prediction|dimension|pair|position|"
    "character"
)
COUNTING = rf"\b({COUNTED}|one|score|radians?)|\}}"
"""What is counted, or a number that is put into the text: “}” ends it, in JavaScript."""
RULES = {
    "write “per”: lines per token": rf"({COUNTING}) an? ({UNITS})\b",
    "write “is not a”": r"(?<!there )(?<!There )\b(is|are|was|were) no\b(?! longer)",
    "write “only”": r"\balone\b",
    "write “continue”": r"\b(go|goes|going|went) on with\b",
    "write “except”": r"\bbut for\b",
    "write “this many”": r"\bso many\b",
    "write “shows”": r"\btells? of\b",
    "write “farthest”": r"\bfurthest\b",
    "begin with the subject": r"(^|[.:;] )Of (a|an|the|each|every|all|any|what|long|another)\b",
}
"""What to write -> the construction in its place."""
SCRIPT_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')


def strings(file: Path) -> Iterator[tuple[int, str]]:
    """Line and text of each string that may reach the screen: not the docstrings."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".js":
        code = re.sub(r"^\s*//.*$", "", text, flags=re.M)
        yield from (
            (code.count("\n", 0, found.start()) + 1, found[0])
            for found in SCRIPT_STRING.finditer(code)
        )
        return
    tree = ast.parse(text)
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    filled = [node for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)]
    told |= {id(part) for node in filled for part in node.values}
    for node in filled:
        parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        yield node.lineno, "".join(map(str, parts))
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in told:
            yield node.lineno, node.value


def broken(text: str) -> list[str]:
    """The rules that a text breaks."""
    return [rule for rule, pattern in RULES.items() if " " in text and re.search(pattern, text)]


@pytest.mark.parametrize("room", ["transformer", "viz"])
def test_screen_texts_are_plain_english(room: str) -> None:
    files = [*(ROOT / room).rglob("*.py"), *(ROOT / room).rglob("*.js")]
    assert [
        f"{file.relative_to(ROOT)}:{line}: {rule}: {text}"
        for file in sorted(files)
        for line, text in strings(file)
        for rule in broken(text)
    ] == []


@pytest.mark.parametrize(
    ("text", "is_plain"),
    [
        ("lines a token", False),
        ("lines per token", True),
        ("All steps, one a row", False),
        ("at most ${MAX_LINES} a head", False),
        ("score a position", False),
        ("This is no matrix.", False),
        ("There is no text.", True),
        ("Of a longer row the strongest.", False),
    ],
)
def test_the_rules_find_what_they_are_for(text: str, is_plain: bool) -> None:
    assert (broken(text) == []) == is_plain


def test_a_number_in_a_text_is_counted_too(tmp_path: Path) -> None:
    file = tmp_path / "page.py"
    file.write_text('"""No text: a line a token."""\nn = 3\ntext = f"at most {n} a head"\n')
    assert [broken(text) != [] for _, text in strings(file) if "head" in text] == [True]
    assert len(list(strings(file))) == 1


MANY = re.compile(r"(?<!all )(?<!first )\{\} (heads|layers)\b")
SEVERAL = {
    "viz/components/head_grid/head_grid.py": "a choice that is offered from 2 on",
    "viz/map_words.py": "only where there are several",
    "viz/lessons/tasks/layers.py": "asked where there are several",
}


def test_one_head_is_not_heads() -> None:
    """`counted` writes the number: models of one head and one layer are common."""
    for file in sorted((ROOT / "viz").rglob("*.py")):
        if str(file.relative_to(ROOT)) not in SEVERAL:
            left = [(line, text) for line, text in strings(file) if MANY.search(text)]
            assert not left, f"{file}: {left}"
