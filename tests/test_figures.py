"""Every figure of the documents has something that holds it: a constant, a command, or a reason."""

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from transformer.checkpoint import CONFIG, SNAPSHOTS, shipped_path
from transformer.corpus.labels import labels
from transformer.corpus.shipped import shipped_survey
from transformer.discover import discover
from transformer.fingerprint import fingerprint
from transformer.formats.opening import describe_checkpoint

ROOT = Path(__file__).parents[1]
DOCUMENTS = {
    path.relative_to(ROOT).as_posix(): path.read_text("utf-8")
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *ROOT.glob("docs/**/*.md"))
}
PAGES_OF_COMMANDS = {"docs/mistakes.md": "en-de-1", "docs/syntax.md": "en-de"}
"""Whole pages that a command writes -> the checkpoint whose weights they are about."""

_COUNTED = "lines?|tests?|cases?|stays?|returns?|files?|requests?|reruns?|payloads?|times"
_MEASURED = "seconds?|s|ms|milliseconds|min|minutes?|hours?|days|MB|MiB|GB|GiB|kB|KiB"
_RATES = r"×(?! ?\d)|(?:an?|per) (?:second|minute)\b"
_DIGITS = r"(?<![\w.,-])\d[\d,.]*"
_WORD = (
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty"
    "|fifty|sixty|hundred|thousand)"
)
_FIGURE = re.compile(
    rf"(?:{_DIGITS}|{_WORD})[ -](?:(?:{_COUNTED}|{_MEASURED})\b|{_RATES})"
    rf"|{_DIGITS} [a-z]+ (?:{_COUNTED})\b"  # 76 small files
    r"|\ban? (?:minute|hour)\b"
)
"""A number, in digits or in words, of what is counted or measured."""
_SILENT = (
    r"^ *```.*?^ *```",  # what a person types, or a log says
    r"<!-- made by `.+?` -->.*?<!-- end -->",
    r"`[^`\n]+`",
    r"\]\([^)\s]*(?: \"[^\"]*\")?\)",
)
"""Parts of a document that have no figures of ours, or such as another test holds."""


@dataclass(frozen=True)
class Held:
    """A figure that is a constant of the code: the document says what the code says."""

    document: str
    says: str
    """Python's format of the value."""
    file: str
    name: str
    value: Callable[[Any], Any] = lambda value: value

    @property
    def phrase(self) -> str:
        return self.says.format(self.value(constant(ROOT / self.file, self.name)))


def in_words(value: float) -> str:
    return {2: "two", 4: "four", 10: "ten", 12: "twelve"}[int(value)]


def in_hours(seconds: float) -> str:
    return "hour" if seconds == 3600 else f"{in_words(seconds / 3600)} hours"


def mib(value: int) -> int:
    return value >> 20


CHAT = "transformer/hugging_face/chat/"
HELD = (
    Held("docs/SECURITY.md", "killed after {:g} s", f"{CHAT}rendering.py", "SECONDS"),
    Held("docs/formats.md", "killed after {:g} s", f"{CHAT}rendering.py", "SECONDS"),
    Held("docs/formats.md", "gets {} MiB", f"{CHAT}render_process.py", "MOST_BYTES", mib),
    Held("docs/formats.md", "write {:,} characters", f"{CHAT}render_process.py", "MOST_CHARACTERS"),
    Held("docs/deploy.md", "a sandbox of {:g} s", f"{CHAT}rendering.py", "SECONDS"),
    Held("docs/deploy.md", "and {} MiB;", f"{CHAT}render_process.py", "MOST_BYTES", mib),
    Held("docs/deploy.md", "every {} seconds", "viz/run/cache.py", "EVERY", in_words),
    Held("docs/deploy.md", "cuts {:,} lines", "tests/test_deployment.py", "N_CUTS"),
    Held("docs/deploy.md", "{} MiB of shared", "transformer/engines/ray.py", "STORE", mib),
    Held("docs/SECURITY.md", "SameSite=Lax, {} days", "viz/state/state.py", "_DAYS"),
    Held("docs/SECURITY.md", "more than {} MiB of it", "viz/paper/record.py", "LARGEST", mib),
    Held("docs/SECURITY.md", "of at most {} MiB", "viz/live/bare_arrays.py", "MOST", mib),
    Held("docs/SECURITY.md", "or {} MiB unpacked", "viz/live/bare_arrays.py", "MOST_UNPACKED", mib),
    Held("docs/deploy.md", "of at most {} MiB, dropped", "viz/live/bare_arrays.py", "MOST", mib),
    Held("docs/library.md", "up to {} MiB:", "viz/live/bare_arrays.py", "MOST", mib),
    Held("docs/figures.md", "more than {} MiB of it", "viz/paper/record.py", "LARGEST", mib),
    Held("docs/architecture.md", "{} seconds after", "viz/run/work.py", "CLOSED", in_words),
    Held("docs/evidence.md", "= {} times", "transformer/causes/evidence.py", "MOST_RUNS"),
    Held("docs/evidence.md", "({:,} times)", "transformer/analysis/corpus_sweep.py", "N_RESAMPLES"),
    Held("docs/performance.md", "{} MiB, the", "viz/pages/heads/one.py", "MOST_BYTES", mib),
    Held(
        "docs/performance.md",
        "{} MB in",
        "tests/browser/test_first_load.py",
        "MOST_BYTES",
        lambda value: value / 10**6,
    ),
    Held(
        "docs/performance.md",
        "{} requests",
        "tests/browser/test_first_load.py",
        "MOST_REQUESTS",
    ),
    Held(
        "docs/architecture.md", "after an {} in any case", "viz/run/cache.py", "LONGEST", in_hours
    ),
    Held("docs/talks.md", "There are {} at most", "viz/talks/rooms.py", "MOST"),
    Held("docs/talks.md", "most, {} of one", "viz/talks/rooms.py", "MOST_OF_ADDRESS"),
    Held("docs/talks.md", "with {:,} windows", "viz/talks/rooms.py", "MOST_LISTENERS"),
    Held("docs/talks.md", "its last {} questions", "viz/talks/rooms.py", "MOST_QUESTIONS"),
    Held("docs/talks.md", "up to {:,} answers", "viz/talks/rooms.py", "MOST_ANSWERS"),
    Held("docs/talks.md", "up to {} words", "viz/talks/rooms.py", "MOST_WORDS"),
    Held("docs/survey.md", "each {} lines", "transformer/corpus/shards.py", "SIZE"),
    Held(
        "docs/survey.md",
        "below {} kB",
        "tests/transformer/corpus/test_shipped.py",
        "MOST_BYTES",
        lambda value: value // 1000,
    ),
    Held(
        "docs/features.md",
        "at most {} lines",
        "tests/transformer/own_module/test_examples.py",
        "MOST_LINES",
        in_words,
    ),
    Held(
        "docs/how-do-i.md",
        "[{} lines]",
        "tests/transformer/own_module/test_examples.py",
        "MOST_LINES",
        in_words,
    ),
    Held(
        "docs/talks.md",
        "within {} seconds",
        "viz/components/stage/recorded.js",
        "LATE",
        lambda value: in_words(value / 1000),
    ),
    Held("docs/talks.md", "{} after its last move", "viz/talks/rooms.py", "LONGEST", in_hours),
)
ALLOWED = {
    ("docs/SECURITY.md", "within 30 days"): "a promise of people",
    ("docs/deploy.md", "after two minutes without"): "Streamlit's own: test_streamlit_keeps_it",
    ("docs/deploy.md", "for two minutes after"): "the same",
    ("docs/glossary.md", "2.72 times the weight"): "e, in a card of viz/words.py",
}
"""Document and phrase -> why nothing of ours has the number."""


def constant(file: Path, name: str) -> Any:
    """The value of a constant of a module, of Python or JavaScript, whose text is read alone."""
    text = file.read_text("utf-8")
    if file.suffix == ".js":
        (digits,) = re.findall(rf"^const {name} = (\d+);", text, re.M)
        return int(digits)
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            (target,) = node.targets
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = list(zip(target.elts, node.value.elts, strict=True))
            for each, value in pairs:
                if isinstance(each, ast.Name) and each.id == name:
                    return eval(compile(ast.Expression(value), file.name, "eval"), {})
    raise AssertionError(f"{file} has no constant {name}")


def weight_of(name: str) -> str:
    """The size of a checkpoint's weights, as the README says it (tests/test_size.py)."""
    size = (shipped_path(name) / "model.safetensors").stat().st_size / 10**6
    return f"{size:.0f} MB" if size >= 0.5 else f"{size:.1f} MB"


def shipped() -> list[Path]:
    return sorted(file.parent for file in ROOT.glob(f"checkpoints/*/{CONFIG}"))


def phrases(document: str) -> Iterator[str]:
    """What may be said there."""
    yield from (each.phrase for each in HELD if each.document == document)
    yield from (phrase for where, phrase in ALLOWED if where == document)
    if document == "README.md":
        yield from {weight_of(folder.name) for folder in shipped()}


def figures(text: str, allowed: Iterable[str] = ()) -> list[str]:
    """The figures of a text but for those of these phrases, each with the words around it."""
    for phrase in allowed:
        text = re.sub(rf"(?<![\d.,]){re.escape(phrase)}", "…", text)
    for part in _SILENT:
        text = re.sub(part, "…", text, flags=re.M | re.S)
    text = " ".join(text.split())
    return [text[max(0, it.start() - 40) : it.end() + 20] for it in _FIGURE.finditer(text)]


@pytest.mark.parametrize("document", sorted(set(DOCUMENTS) - set(PAGES_OF_COMMANDS)))
def test_every_figure_is_held_by_something(document: str) -> None:
    """Where one is not: leave it out, name the command that prints it, or hold it in HELD."""
    assert figures(DOCUMENTS[document], phrases(document)) == []


@pytest.mark.parametrize("document", sorted(DOCUMENTS))
def test_what_may_be_said_is_said(document: str) -> None:
    text = DOCUMENTS[document]
    assert [each for each in phrases(document) if each not in text] == []


@pytest.mark.parametrize(
    "text",
    [
        "It has 44 stays in 18 files.",
        "A page is there after 0.27 s, or two seconds.",
        "All tests take 25 minutes; 1,024 tests run.",
        "It is 1.4 times as fast, or 3 ×.",
        "A rerun makes 600 React components in 76 small files.",
        "The process has 250 MiB, and 14 answers; 1.7 per second.",
        "20 to 30 ms",
    ],
)
def test_a_new_figure_is_noticed(text: str) -> None:
    assert figures(text)


@pytest.mark.parametrize(
    "text",
    [
        "Two viewers, layer 2, L2 H3, 1440 × 900, Python 3.11 or newer, part 2.",
        "Type `--jobs 4 files` or\n```\nExplore 16.1 ms\n```\n",
        "<!-- made by `make x` -->\n| 20 s |\n<!-- end -->",
    ],
)
def test_what_is_no_figure_is_left_alone(text: str) -> None:
    assert not figures(text)


def test_another_number_beside_the_same_words_is_a_figure() -> None:
    assert figures("at most 142 lines", ["42 lines"])
    assert not figures("at most 142 lines", ["142 lines"])


@pytest.mark.parametrize("document", PAGES_OF_COMMANDS)
def test_pages_of_commands_are_of_the_weights_that_are_shipped(document: str) -> None:
    text, name = DOCUMENTS[document], PAGES_OF_COMMANDS[document]
    command = re.search(r"`(python -m [^`]+)`\s+writes\s+this\s+page", text)
    path = shipped_path(name)
    marks = (fingerprint(path), *describe_checkpoint(path).about.earlier)
    assert command and any(mark in text for mark in marks), f"{command}: write it anew"


def test_the_readme_says_how_large_the_shipped_models_are() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)`.* \| (.+) \| [\d.]+ MB", DOCUMENTS["README.md"], re.M))
    for folder in shipped():
        model = json.loads((folder / CONFIG).read_text())["model"]
        layers = [model[f"n_{side}_layers"] for side in ("encoder", "decoder")]
        n_layers = "+".join(str(n) for n in layers if n)
        words = f"{n_layers} layer{'s' * (n_layers != '1')} of {model['n_heads']} heads"
        snapshots = len(list((folder / SNAPSHOTS).glob("*.safetensors")))
        if folder.name in rows and folder.name != "en-de-1":  # of the row above
            assert words in rows[folder.name], folder.name
            assert (f"{snapshots} snapshots" in rows[folder.name]) == bool(snapshots)
    assert len(rows) > 5


def test_as_many_heads_have_a_label() -> None:
    survey = shipped_survey(shipped_path("en-de"))
    assert survey is not None
    every = labels(survey.survey)
    sentence = f"In en-de {sum(map(bool, every.values()))} of {len(every)} heads have one."
    assert sentence in DOCUMENTS["docs/survey.md"]


def test_commands_that_measure_are_there() -> None:
    benches = discover("tests.bench", "BENCH")
    for document, text in DOCUMENTS.items():
        for names in re.findall(r"`(?:\.venv/bin/)?python -m tests\.bench ([a-z ]+)`", text):
            assert set(names.split()) <= set(benches), document
        for module in re.findall(r"python -m (tests[.\w]*\w)", text):
            path = ROOT / module.replace(".", "/")
            assert (path / "__main__.py").exists() or path.with_suffix(".py").exists(), module


def test_streamlit_keeps_it() -> None:
    """So long it remembers who has left, as docs/deploy.md says."""
    from inspect import signature

    from streamlit.runtime.memory_session_storage import MemorySessionStorage

    assert signature(MemorySessionStorage).parameters["ttl_seconds"].default == 2 * 60
