"""Imports point only downwards: docs and code agree on who may know whom."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
RANKS = (
    ("transformer",),
    (
        *(
            "viz.app_packages",
            "viz.theme",
            "viz.labels",
            "viz.sentence",
            "viz.map_words",
        ),
        *("viz.formula", "viz.words", "viz.glossary", "viz.screen", "viz.spelling"),
        *("viz.choice", "viz.page_fields"),
        "viz.edit_words",
        "viz.lessons",
    ),
    (
        *("viz.stories", "viz.exhibits", "viz.figures", "viz.views", "viz.components"),
        *("viz.export", "viz.causes.tables", "viz.causes.right_word_tables"),
    ),
    ("viz.paper", "viz.painters"),
    ("viz.notebook", "viz.live"),
    ("viz.run", "viz.causes.needs"),
    ("viz.state",),
    ("viz.talks",),
    ("viz.ui", "viz.causes"),
    ("viz.server",),
    ("viz.pages",),
    ("app", "viz.figure_at", "viz.site_shelf", "viz.commands", "viz.__main__", "viz.headscope"),
)
"""Lowest first; a module may import its own rank and those below."""
ABOVE = ("plotly", "streamlit", "pandas")
FOLDERS = (ROOT / "transformer", ROOT / "viz")
FILES = [*sorted(file for folder in FOLDERS for file in folder.rglob("*.py")), ROOT / "app.py"]


def name_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def parsed(file: Path) -> ast.Module:
    return ast.parse(file.read_text())


@cache
def imported(file: Path) -> tuple[str, ...]:
    return tuple(imports(parsed(file)))


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are written in full"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


MODULES = {name_of(file): file for file in FILES}


def discovered(tree: ast.AST) -> Iterator[str]:
    """Packages whose modules `discover` finds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) == "discover":
            yield ast.literal_eval(node.args[0])


@cache
def needed(file: Path) -> set[str]:
    """Modules of ours that a file imports, for type checking alone too.

    `discover("x", ...)` imports every module of the package x.
    """
    found: set[str] = set()
    for name in imported(file):
        found |= {name, name.rpartition(".")[0]}  # what is imported may be a name in a module
    for package in discovered(parsed(file)):
        found |= {name for name in MODULES if name.rpartition(".")[0] == package}
    return found & set(MODULES) - {name_of(file)}


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The groups of nodes that lead back to themselves, after all others are taken away."""
    reach = {name: set(after) for name, after in graph.items()}
    for middle in graph:  # Warshall
        for name in graph:
            if middle in reach[name]:
                reach[name] |= reach[middle]
    found: list[set[str]] = []
    for name in graph:
        if name in reach[name] and not any(name in group for group in found):
            found.append({other for other in reach[name] if name in reach[other]})
    return found


def room(name: str) -> str:
    """The folder of a module, as far as it is a room of its own: two names, as viz.ui."""
    return ".".join(name.split(".")[:2]) if "." in name else name


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def rank(name: str) -> int | None:
    """None for what is not ours, and for the package viz itself."""
    for number, packages in enumerate(RANKS):
        if any(within(name, package) for package in packages):
            return number
    return None


def files(check: Callable[[Path], None]) -> Callable[[], None]:
    """Check every module in one test: pytest takes longer for a test than for any of these."""

    def test() -> None:
        for file in FILES:
            try:
                check(file)
            except AssertionError as error:
                error.add_note(name_of(file))
                raise

    test.__doc__ = check.__doc__
    return test


@files
def test_imports_point_downwards(file: Path) -> None:
    own = rank(name_of(file))
    ours = [name for name in imported(file) if rank(name) is not None]
    if own is None:  # viz itself names what notebooks import, and imports it when it is asked for
        named = ("transformer.extras", "viz.notebook", "viz.server.exploring")
        assert not [name for name in ours if not any(within(name, each) for each in named)]
    else:
        assert [name for name in ours if rank(name) > own] == []


@files
def test_who_may_know_plotly_streamlit_pandas_and_transformers(file: Path) -> None:
    tree, name = parsed(file), name_of(file)
    found = set(imported(file))
    if within(name, "transformer"):
        assert not [i for i in found if any(within(i, package) for package in ABOVE)]
    if any(within(name, room) for room in ("viz.figures", "viz.views", "viz.notebook")):
        assert not [i for i in found if within(i, "streamlit") or i == "viz.app_packages.st"]
    hugging_face = [i for i in found if within(i, "transformers")]
    assert not hugging_face or within(name, "transformer.hugging_face")
    outside = [node for node in tree.body if not isinstance(node, ast.FunctionDef)]
    assert not [i for i in imports(ast.Module(outside, [])) if within(i, "transformers")]


@files
def test_two_modules_know_ray(file: Path) -> None:
    """Whatever else needs it goes through them, and they need no ray to be named and refused."""
    names = [name for name in imports(parsed(file)) if within(name, "ray")]
    session = "transformer.engines.ray"  # and who uses what it has joined
    assert not names or name_of(file) in (session, "viz.server.models.on_ray")
    outside = [node for node in parsed(file).body if not isinstance(node, ast.FunctionDef)]
    assert not [i for i in imports(ast.Module(outside, [])) if within(i, "ray")]


@files
def test_every_module_says_what_it_is(file: Path) -> None:
    assert ast.get_docstring(parsed(file))


MOST_FILES = 25
"""Loose files of a room: a list that stands on one screen, in which somebody who looks for a thing
finds it by its name. Where it is reached, files of one subject get a folder of their own, as
`viz/ui/notes` did; files that only one other needs go into that one."""


def test_rooms_are_no_halls() -> None:
    """Plug-ins that `discover` finds are a list, however long; all else has a room of its own."""
    plug_ins = {each for file in FILES for each in discovered(parsed(file))}
    files = [".".join(it.relative_to(ROOT).parts) for it in FILES if it.stem != "__init__"]
    loose = Counter(name.rsplit(".", 2)[0] for name in files)
    assert {"transformer.edits", "viz.pages"} <= plug_ins
    full = {name: n for name, n in loose.items() if n > MOST_FILES and name not in plug_ins}
    assert not full


MOST_LINES, MOST_LINES_AT_ALL = 500, 700
"""Lines of a file that one reads in one sitting: 150 to 500 around one idea. One that is longer,
as a page with all its parts may be, says why in its docstring, in a sentence with *long* in it.
Where it is reached, look for the second idea: a file is not cut in two only to be shorter."""


@files
def test_a_file_holds_one_idea(file: Path) -> None:
    n_lines = len(file.read_text().splitlines())
    assert not is_too_long(n_lines, ast.get_docstring(parsed(file)) or "")


def is_too_long(n_lines: int, docstring: str) -> bool:
    says_why = re.search(r"\blong\b", docstring) is not None
    return n_lines > (MOST_LINES_AT_ALL if says_why else MOST_LINES)


def test_a_long_file_says_why() -> None:
    assert is_too_long(501, "A page.") and not is_too_long(500, "A page.")
    assert not is_too_long(700, "A page. It is long, as its parts are of no use elsewhere.")
    assert is_too_long(701, "A page. It is long, as its parts are of no use elsewhere.")


@files
def test_no_module_is_named_after_nothing(file: Path) -> None:
    assert file.stem not in ("utils", "helpers", "common", "misc")


def test_no_module_leads_back_to_itself() -> None:
    graph = {name: needed(file) for name, file in MODULES.items()}
    assert "transformer.formats.headscope" in graph["transformer.formats.opening"]  # discovered
    assert cycles(graph) == []


def test_a_figure_from_a_shell_reads_nothing_that_draws_pages() -> None:
    """`from viz.app_packages import st`, wherever a page's module leads to."""
    read, ahead = {"viz.app_packages"}, {"viz.figure_at"}
    while ahead:
        name = ahead.pop()
        read.add(name)
        names = imported(MODULES[name])
        drawing = (*ABOVE, "segno", "starlette", "tornado")
        assert not [each for each in names if any(within(each, it) for it in drawing)], name
        ahead |= needed(MODULES[name]) - read
    assert {"viz.pages.explore", "viz.ui.showing"} <= read


def test_figures_know_nothing_of_views() -> None:
    for name, file in MODULES.items():
        assert not within(name, "viz.figures") or not [
            each for each in needed(file) if within(each, "viz.views")
        ]


def test_files_know_nothing_of_formats() -> None:
    allowed = ("checkpoint", "extras", "files", "refusal")
    for name, file in MODULES.items():
        if within(name, "transformer.files"):
            rooms = {room(each) for each in needed(file)}
            assert rooms <= {f"transformer.{each}" for each in allowed}


def test_a_cycle_is_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": {"a", "d"}}
    assert sorted(map(sorted, cycles(graph))) == [["b", "c"], ["d"]]


@files
def test_pickle_is_imported_nowhere(file: Path) -> None:
    pickles = ("pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "marshal")
    assert not [name for name in imported(file) if any(within(name, each) for each in pickles)]


@files
def test_every_error_is_a_refusal(file: Path) -> None:
    """Whatever is raised for a person ends in one sentence: screens catch one class."""
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.ClassDef) and node.name != "Refusal":
            bases = [ast.unparse(base) for base in node.bases]
            assert not {"Exception", "BaseException"} & set(bases), node.name
            assert not node.name.endswith(("Error", "Misfit")) or "Refusal" in bases, node.name


NAMED_SO = {"now", "utcnow", "today"}
MOMENTS = NAMED_SO | {"time", "time_ns", "localtime", "gmtime"}
"""Functions of dates, and of the module time."""


def test_what_lasts_is_measured_by_a_clock_that_only_goes_on() -> None:
    """That of the system is set back now and then: it says when something was, not for how long."""
    said = set()
    for name, file in MODULES.items():
        assert not {"time.time", "time.time_ns"} & set(imported(file))
        for node in ast.walk(parsed(file)):
            if isinstance(node, ast.Attribute) and node.attr in MOMENTS:
                text = ast.unparse(node)
                if node.attr in NAMED_SO or text.startswith("time."):
                    said.add((name, text))
    assert said == {
        ("transformer.corpus.shipping", "datetime.now"),
        ("transformer.hugging_face.chat.render_process", "datetime.now"),
        ("transformer.hugging_face.chat.rendering", "date.today"),
        ("viz.paper.crate", "datetime.now"),
        ("viz.run.operating", "time.gmtime"),
        ("viz.run.operating", "time.time"),
    }


@files
def test_no_page_asks_whether_it_stands_on_a_wall(file: Path) -> None:
    """The layout does: a page declares which exhibits are main, and which words are its own."""
    asked = {"viz.talks.stage.on_wall", "viz.talks.stage.on_stage"}
    assert not within(name_of(file), "viz.pages") or not asked & set(imported(file))


PARTICIPLES = {"found", "said", "shown", "known", "told", "listed", "kept", "given", "asked"}
"""Names that nobody can guess: a result, a match, a text, an answer has a noun."""
API = {
    "viz.components.address.address": {"asked"},
    "viz.views.outputs": {"shown"},
    "viz.views.relative": {"shown"},
}
"""Keywords by other rooms, and names that addresses have."""


def participles(tree: ast.AST) -> set[str]:
    """Names of functions, and of what is bound within them, that are participles."""
    names: set[str] = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        names.add("" if isinstance(function, ast.Lambda) else function.name.strip("_"))
        for node in ast.walk(function):
            if isinstance(node, ast.arg):
                names.add(node.arg)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
    return names & PARTICIPLES


def test_values_are_nouns() -> None:
    for module, file in MODULES.items():
        left = participles(parsed(file)) - API.get(module, set())
        assert not left, f"{module}: {sorted(left)}"


def test_a_participle_is_noticed() -> None:
    assert participles(ast.parse("def f(said):\n    return [found for found in said]")) == {
        *("found", "said")
    }
    assert participles(ast.parse("def _shown(text):\n    return text")) == {"shown"}
    assert not participles(ast.parse("def f(text):\n    return text.given"))


FRAGMENTS = {
    *("What", "Whether", "Of", "Who", "Whose", "Which", "Where", "How", "Why", "When"),
    *("That", "Those", "For", "By", "As"),
}
"""Words that a sentence about a thing seldom begins with: the verb or the noun is left out."""


def docstrings(tree: ast.AST) -> Iterator[str]:
    """The docstrings of modules, classes, functions, and of values and fields below them."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for each in body if isinstance(body, list) else ():  # a lambda's is an expression
            value = each.value if isinstance(each, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                yield value.value.strip()


def fragments(tree: ast.AST) -> list[str]:
    return [text for text in docstrings(tree) if re.split(r"\W", text, maxsplit=1)[0] in FRAGMENTS]


def test_docstrings_are_sentences() -> None:
    for module, file in MODULES.items():
        left = fragments(parsed(file))
        assert not left, f"{module}: {left}"


def test_a_fragment_is_noticed() -> None:
    module = '"""Of what is read."""\nA = 1\n"""Whether it is."""\ndef f():\n    """Whose it is."""'
    assert fragments(ast.parse(module)) == ["Of what is read.", "Whether it is.", "Whose it is."]
    assert not fragments(ast.parse("class A:\n    'The text.'\n    b: int\n    'Its length.'"))
