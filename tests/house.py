"""The house in numbers: how much stands where, by `python -m tests.house [a commit ...]`;
`python -m tests.house --write` renews the table of rooms in tests/test_size.py."""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
PRODUCT = ("app.py", "transformer", "viz")
CODE = (".py", ".js")
BRAKE = ROOT / "tests" / "test_size.py"
TABLE = re.DOTALL | re.MULTILINE


def product(commit: str | None = None) -> dict[str, str]:
    """The text of every file of Python and JavaScript of the product, by its path.

    commit: None: as it stands in the working tree.
    """
    ask = ["ls-files", "-co", "--exclude-standard"]
    if commit is not None:
        ask = ["ls-tree", "-r", "--name-only", commit]
    names = [name for name in _git(*ask, "--", *PRODUCT).split("\n") if name.endswith(CODE)]
    if commit is None:
        paths = [(name, ROOT / name) for name in names]
        return {name: path.read_text("utf-8") for name, path in paths if path.exists()}
    return {name: _git("show", f"{commit}:{name}") for name in names}


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True)
    return done.stdout.decode("utf-8")


def room_of(name: str) -> str:
    """The room that a file is in: `viz/pages`; of loose files the folder, `viz`."""
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else parts[0]


def rooms(files: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    """Lines and files of each room."""
    lines, n = Counter[str](), Counter[str]()
    for name, text in files.items():
        lines[room_of(name)] += text.count("\n")
        n[room_of(name)] += 1
    return {room: (lines[room], n[room]) for room in sorted(lines)}


@dataclass(frozen=True)
class House:
    """The product's files of Python, read."""

    files: Mapping[str, str]

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        return {n: ast.parse(text) for n, text in self.files.items() if n.endswith(".py")}

    @cached_property
    def lines(self) -> dict[str, int]:
        return {name: self.files[name].count("\n") for name in self.trees}

    def nodes(self) -> Iterable[ast.AST]:
        for tree in self.trees.values():
            yield from ast.walk(tree)

    @cached_property
    def figures(self) -> dict[str, int]:
        """Counts of the whole house, by what they count."""
        nodes = list(self.nodes())
        functions = [each for each in nodes if isinstance(each, ast.FunctionDef)]
        lengths = [each.end_lineno - each.lineno + 1 for each in functions if each.end_lineno]
        imports = [each for each in nodes if isinstance(each, ast.Import | ast.ImportFrom)]
        named = Counter(
            each.id if isinstance(each, ast.Name) else each.attr
            for each in nodes
            if isinstance(each, ast.Name | ast.Attribute)
        )
        top = [
            each
            for tree in self.trees.values()
            for each in tree.body
            if isinstance(each, ast.FunctionDef)
        ]
        browser = [text.count("\n") for name, text in self.files.items() if name.endswith(".js")]
        return {
            "lines": sum(self.lines.values()) + sum(browser),
            "files": len(self.files),
            "lines of Python": sum(self.lines.values()),
            "files of Python": len(self.lines),
            "median file of Python": int(median(self.lines.values())),
            "files of under 150 lines": sum(n < 150 for n in self.lines.values()),
            "statements": sum(isinstance(each, ast.stmt) for each in nodes),
            "lines of imports": sum((i.end_lineno or i.lineno) - i.lineno + 1 for i in imports),
            "lines of comments": sum(
                len(re.findall(r"^\s*#", self.files[name], re.M)) for name in self.trees
            ),
            "functions": len(functions),
            "median function": int(median(lengths)),
            "functions of modules that are named once": sum(named[f.name] == 1 for f in top),
            "files with one public definition": sum(map(_has_one, self.trees.values())),
            "floors of transformer": self.floors("transformer"),
            "floors of viz": self.floors("viz"),
        }

    def floors(self, room: str) -> int:
        """The floors of a room: a file stands above whatever it imports of the same room."""
        names = {
            _dotted(name): name
            for name, tree in self.trees.items()
            if name.startswith(f"{room}/") and not _is_face(name, tree)
        }
        graph = {dotted: self._imported(name) & set(names) for dotted, name in names.items()}
        floor: dict[str, int] = {}

        def of(dotted: str, on_the_way: frozenset[str] = frozenset()) -> int:
            if dotted in on_the_way:
                return 0  # an import of a package's face, inside of a function
            if dotted not in floor:
                below = graph[dotted] - {dotted}
                way = on_the_way | {dotted}
                floor[dotted] = 1 + max((of(each, way) for each in below), default=0)
            return floor[dotted]

        return max(map(of, graph), default=0)

    def _imported(self, name: str) -> set[str]:
        found = set[str]()
        for each in ast.walk(self.trees[name]):
            if isinstance(each, ast.Import):
                found |= {alias.name for alias in each.names}
            elif isinstance(each, ast.ImportFrom) and each.module:
                found |= {f"{each.module}.{alias.name}" for alias in each.names}
                found.add(each.module)
        return found


def _dotted(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _is_face(name: str, tree: ast.Module) -> bool:
    """Tell whether it only hands names on: whoever asks a package's face stands above no more."""
    kinds = ast.FunctionDef | ast.ClassDef
    return name.endswith("__init__.py") and not any(isinstance(each, kinds) for each in tree.body)


def _has_one(tree: ast.Module) -> bool:
    kinds = ast.FunctionDef | ast.ClassDef
    names = [each.name for each in tree.body if isinstance(each, kinds)]
    return len([name for name in names if not name.startswith("_")]) == 1


def table(houses: Mapping[str, House]) -> str:
    """The figures of each house beside each other, its rooms, and its longest files."""
    rows = ["| figure | " + " | ".join(houses) + " |", "| --- |" + " ---: |" * len(houses)]
    for what in next(iter(houses.values())).figures:
        numbers = (f"{house.figures[what]:,d}" for house in houses.values())
        rows.append(f"| {what} | " + " | ".join(numbers) + " |")
    every = {name: rooms(house.files) for name, house in houses.items()}
    for room in sorted({room for each in every.values() for room in each}):
        sizes = (each.get(room, (0, 0)) for each in every.values())
        cells = (f"{lines:,d} in {n}" for lines, n in sizes)
        rows.append(f"| {room} | " + " | ".join(cells) + " |")
    for name, house in houses.items():
        longest = sorted(house.lines.items(), key=lambda each: -each[1])[:10]
        files = ", ".join(f"`{file}` {n}" for file, n in longest)
        rows += ["", f"Longest of {name}: {files}"]
    return "\n".join(rows)


def as_table(sizes: Mapping[str, tuple[int, int]]) -> str:
    """Return the rooms as tests/test_size.py has them."""
    rows = (f'    "{room}": ({lines:_d}, {n}),\n' for room, (lines, n) in sizes.items())
    return f"ROOMS = {{\n{''.join(rows)}}}\n"


def main(words: list[str]) -> None:
    """Print the table of these commits, and of the working tree; `--write`: renew the brake."""
    if words == ["--write"]:
        text = BRAKE.read_text("utf-8")
        BRAKE.write_text(
            re.sub(r"ROOMS = \{\n.*?^\}\n", as_table(rooms(product())), text, flags=TABLE)
        )
        return
    houses = {commit: House(product(commit)) for commit in words}
    print(table({**houses, "now": House(product())}))


if __name__ == "__main__":
    main(sys.argv[1:])
