"""`headscope --help` and `--version`, before anything that takes seconds is imported, as torch.

To import this is enough: what shells run does so before anything else. Names and titles of commands
are read off their files, which would import torch.
"""

import ast
import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any

FOLDERS = ("viz", "transformer")
"""The packages whose folder `commands` holds some, a file each or a few."""
HELP, VERSION = ("-h", "--help"), ("-V", "--version")
"""The options that are answered here."""
Titles = dict[str, dict[str, str]]
"""Package -> name of a command -> what it does, as a sentence."""


def add_place(parser: ArgumentParser) -> None:
    """Declare the place where the app listens."""
    parser.add_argument("--port", type=port, help="the first free one from 8501 when left out")
    parser.add_argument("--address", default="localhost", help="0.0.0.0 lets others in")
    parser.add_argument("--quiet", action="store_true", help="open no browser")


def port(text: str) -> int:
    """The number of a port. Raises ArgumentTypeError, and ValueError for what is not a number."""
    number = int(text)
    if not 0 < number < 2**16:
        raise ArgumentTypeError("must lie between 1 and 65535")
    return number


def parser_of(
    titles: Titles, declare: Callable[[ArgumentParser, str], None] | None = None
) -> ArgumentParser:
    """Make the parser of all commands. declare: adds the arguments of one of ours."""
    parser = ArgumentParser(
        prog="python -m viz", description="Open the app in a browser, or run a command."
    )
    parser.add_argument(*VERSION, action="version", version=version_in_file())
    add_place(parser)
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(metavar="command")
    for package in FOLDERS:
        for name, title in titles[package].items():
            if package != "viz":
                commands.add_parser(name, add_help=False, help=title)
            elif declare is not None:
                declare(commands.add_parser(name, help=title, description=title), name)
            else:
                commands.add_parser(name, help=title)
    return parser


def version_in_file() -> str:
    """Name the program and its version, which `transformer` has, without importing it."""
    code = (Path(__file__).parents[1] / "transformer" / "__init__.py").read_text(encoding="utf-8")
    return "headscope " + re.findall(r'^__version__ = "(.+)"$', code, re.MULTILINE)[0]


def titles_in_files() -> Titles:
    """Read them off the commands' source. Raises ValueError for one that is not plain text."""
    root = Path(__file__).parents[1]
    return {it: dict(sorted(_titles(root / it / "commands"))) for it in FOLDERS}


def _titles(folder: Path) -> list[tuple[str, str]]:
    calls: list[Any] = []
    for file in folder.glob("*.py"):
        code = file.read_text(encoding="utf-8")
        calls += [it for it in ast.walk(ast.parse(code)) if isinstance(it, ast.Call)]
    commands = [it.args for it in calls if getattr(it.func, "id", "") == "Command"]
    return [(ast.literal_eval(name), ast.literal_eval(title)) for name, title, *_ in commands]


def is_asked(words: list[str], options: tuple[str, ...] = HELP) -> bool:
    """Tell whether a process was begun for one of these alone. words: sys.orig_argv."""
    *before, program, option = ["", "", *words][-3:]
    by_module = before == ["-m"] and program in ("viz", "headscope")
    is_script = Path(program).stem == "headscope" and before != ["-m"]
    return option in options and (by_module or is_script)


if is_asked(sys.orig_argv, VERSION):
    print(version_in_file())
    raise SystemExit(0)
if is_asked(sys.orig_argv):
    try:
        _parser = parser_of(titles_in_files())
    except (OSError, ValueError, TypeError, SyntaxError):  # then they are imported
        pass
    else:
        _parser.print_help()
        raise SystemExit(0)
