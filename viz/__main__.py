"""python -m viz: the app; python -m viz explore script.py:build: with a module of one's own in it.

python -m viz figure ADDRESS --out figure.pdf: a picture of it; python -m viz open figure.pdf: back.
python -m viz open talk.md: a story of one's own.
"""

import argparse
import importlib.util
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from transformer import Checkpoint, CheckpointError
from transformer.__main__ import main as command
from transformer.discover import discover
from transformer.own_module.failure import in_a_sentence
from transformer.refusal import Refusal
from viz.commands import add_commands, link_of, save_figure

MODULE = "explored_script"
"""The name under which a script is imported: its own may be that of another module."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the app until it is stopped; what a person can mend ends in one sentence."""
    said = sys.argv[1:] if arguments is None else list(arguments)
    if said and said[0] in discover("transformer.commands", "COMMAND"):
        return command(said)
    options = _parser().parse_args(said)
    sys.argv = [str(Path(options.script.partition(":")[0])) if options.script else "headscope"]
    try:
        _run(options)
    except Refusal as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _run(options: argparse.Namespace) -> None:
    if options.command == "figure":
        save_figure(options)
        return
    at = link_of(options.figure) if options.command == "open" else ""
    from viz.server.exploring import explore, serve  # takes seconds: --help needs none of it

    where = {"port": options.port, "address": options.address, "opens_browser": not options.quiet}
    if options.script is None:
        serve(**where, at=at)
    else:
        explore(built(options.script), block=True, **where)


def built(said: str) -> Checkpoint:
    """What a function of a script gives, said as "script.py:build". Raises CheckpointError."""
    path, _, name = said.rpartition(":") if ":" in Path(said).name else (said, "", "build")
    file = Path(path).absolute()
    if not file.is_file():
        raise CheckpointError(f"There is no {path} here: give a script and a function of it.")
    sys.path.insert(0, str(file.parent))  # as for `python script.py`
    spec = importlib.util.spec_from_file_location(MODULE, file)
    if spec is None or spec.loader is None:
        raise CheckpointError(f"{file.name} is not a Python script.")
    sys.modules.setdefault("headscope", import_module("viz.headscope"))  # for who did not install
    sys.modules[MODULE] = module = importlib.util.module_from_spec(spec)
    with in_a_sentence(file.name, CheckpointError):
        spec.loader.exec_module(module)
    build: Any = getattr(module, name, None)
    if not callable(build):
        raise CheckpointError(f"{file.name} has no function {name}.")
    with in_a_sentence(name, CheckpointError):
        found = build()
    if not isinstance(found, Checkpoint):
        given = type(found).__name__
        raise CheckpointError(f"{name} must return what from_module gives; it returned {given}.")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m viz", description=__doc__)
    commands = parser.add_subparsers(metavar="command", dest="command")
    parser.set_defaults(script=None)
    explore = commands.add_parser("explore", help="open a torch module of your own")
    explore.add_argument("script", help="script.py:build, where build() returns from_module(...)")
    opener = add_commands(commands)
    for each in discover("transformer.commands", "COMMAND").values():
        commands.add_parser(each.name, add_help=False, help=each.title)
    for each in (parser, explore, opener):
        each.add_argument("--port", type=int, help="the first free one from 8501 when left out")
        each.add_argument("--address", default="localhost", help="0.0.0.0 lets others in")
        each.add_argument("--quiet", action="store_true", help="open no browser")
    return parser


if __name__ == "__main__":
    sys.exit(main())
