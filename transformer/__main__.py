"""python -m transformer COMMAND: `transformer/commands` holds them, one a file."""

import json
import os
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from typing import NoReturn

import torch

from transformer.commands.arguments import positive
from transformer.commands.command import Command
from transformer.device import device_trouble
from transformer.discover import discover
from transformer.interrupt import STOPPED, raise_again
from transformer.refusal import LONGEST, Refusal


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error a user can mend ends in one sentence and exit status 1."""
    options = _parser().parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    command: Command = options.command
    raise_again()
    try:
        with device_trouble():
            result = command.run(options)
    except Refusal as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here.", file=sys.stderr)
        return STOPPED
    if not result:  # it was printed on the way
        return 0
    return _print(json.dumps(result, ensure_ascii=False) if options.json else command.text(result))


def _print(text: str) -> int:
    """Write a result to stdout; a full disk ends in a sentence."""
    try:
        print(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:  # such as a full disk
        print(f"error: the result cannot be written: {error.strerror}.", file=sys.stderr)
        os.close(sys.stdout.fileno())  # what is left in its buffer is not tried again
        return 1
    return 0


class _Parser(ArgumentParser):
    """argparse quotes whatever was typed, whole."""

    def error(self, message: str) -> NoReturn:
        super().error(message if len(message) < LONGEST else f"{message[:LONGEST]}…")


def _parser() -> ArgumentParser:
    parser = _Parser(prog="python -m transformer", description="Transformers from a shell.")
    commands = parser.add_subparsers(required=True, metavar="command")
    for command in discover("transformer.commands", "COMMAND").values():
        own = commands.add_parser(command.name, help=command.title, description=command.title)
        own.set_defaults(command=command)
        command.add_arguments(own)
        own.add_argument("--device", help="cuda, mps or cpu; chosen when left out")
        own.add_argument(
            "--threads",
            type=positive,
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
