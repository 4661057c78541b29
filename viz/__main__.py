"""python -m viz: the app in a browser, or one of the commands of `viz` and of `transformer`."""

import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from transformer.__main__ import main as run_command
from transformer.commands.command import Command
from transformer.discover import discover
from transformer.interrupt import STOPPED, raise_again
from transformer.refusal import Refusal
from transformer.streams import write_line, write_utf8
from viz.commands.opening import add_place, open_app


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve the app until it is stopped; what a person can mend ends in one sentence."""
    write_utf8()
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words and words[0] in discover("transformer.commands", "COMMAND"):
        return run_command(words)
    options = _parser().parse_args(words)
    command: Command | None = options.command
    sys.argv = ["headscope"]
    raise_again()
    try:
        result = command.run(options) if command else open_app(options)
        if command and result:
            write_line(command.text(result))
    except Refusal as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return STOPPED
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="python -m viz", description="Open the app in a browser, or run a command."
    )
    add_place(parser)
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(metavar="command")
    for command in discover("viz.commands", "COMMAND").values():
        own = commands.add_parser(command.name, help=command.title, description=command.title)
        own.set_defaults(command=command)
        command.add_arguments(own)
    for command in discover("transformer.commands", "COMMAND").values():
        commands.add_parser(command.name, add_help=False, help=command.title)
    return parser


if __name__ == "__main__":
    sys.exit(main())
