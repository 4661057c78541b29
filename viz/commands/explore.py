"""python -m viz explore: the app with a torch module of one's own in it."""

import importlib.util
import sys
from argparse import ArgumentParser, Namespace
from importlib import import_module
from pathlib import Path
from typing import Any

from transformer import Checkpoint, CheckpointError
from transformer.commands.command import Command, Result
from transformer.extras import require
from transformer.own_module.failure import in_a_sentence
from viz.commands.app import add_place, place

MODULE = "explored_script"
"""The name under which a script is imported: its own may be that of another module."""


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `explore`."""
    parser.add_argument("script", help="script.py:build, where build() returns from_module(...)")
    add_place(parser)


def run(options: Namespace) -> Result:
    """Serve the app until it is stopped. Raises Refusal."""
    require("app")
    from viz.server.exploring import explore  # takes seconds: --help needs none of it

    sys.argv = [str(Path(options.script.partition(":")[0]))]
    explore(built(options.script), block=True, **place(options))
    return {}


def built(named: str) -> Checkpoint:
    """Call the function of a script, named as "script.py:build". Raises CheckpointError."""
    path, _, name = named.rpartition(":") if ":" in Path(named).name else (named, "", "build")
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
        result = build()
    if not isinstance(result, Checkpoint):
        kind = type(result).__name__
        raise CheckpointError(f"{name} must return what from_module gives; it returned {kind}.")
    return result


COMMAND = Command("explore", "open a torch module of your own", add_arguments, run)
