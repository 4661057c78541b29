"""python -m transformer COMMAND: `transformer/commands` holds them, one a file."""

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import NoReturn

import torch

from transformer import __version__
from transformer.commands.command import Command, threads
from transformer.device import device_trouble
from transformer.discover import discover
from transformer.interrupt import STOPPED, raise_again
from transformer.refusal import LONGEST, Refusal
from transformer.streams import write_line, write_utf8


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error a user can mend ends in one sentence and exit status 1."""
    write_utf8()
    try:
        options = _parser().parse_args(arguments)  # which looks for checkpoints
        if options.threads:
            torch.set_num_threads(options.threads)
        command: Command = options.command
        raise_again()
        with device_trouble():
            result = command.run(options)
        if result:  # else it was printed on the way
            as_json = options.json
            write_line(json.dumps(result, ensure_ascii=False) if as_json else command.text(result))
    except Refusal as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here.", file=sys.stderr)
        return STOPPED
    return 0


class _Parser(ArgumentParser):
    """argparse quotes whatever was typed, whole."""

    def error(self, message: str) -> NoReturn:
        super().error(message if len(message) < LONGEST else f"{message[:LONGEST]}…")


def _parser() -> ArgumentParser:
    parser = _Parser(prog="python -m transformer", description="Transformers from a shell.")
    parser.add_argument("-V", "--version", action="version", version=f"headscope {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in discover("transformer.commands", "COMMAND").values():
        own = commands.add_parser(command.name, help=command.title, description=command.title)
        own.set_defaults(command=command)
        command.add_arguments(own)
        own.add_argument("--device", help="cuda, mps or cpu; chosen when left out")
        own.add_argument(
            "--threads",
            type=threads,
            help="CPU threads; when left out torch chooses, but survey and sweep take one",
        )
        own.add_argument("--json", action="store_true", help="print JSON")
    return parser


if __name__ == "__main__":
    # A pipe closed by its reader is no error of ours.
    try:
        sys.exit(main())
    except BrokenPipeError:
        os._exit(1)
