"""python -m viz: the app in a browser, or one of the commands of `viz` and of `transformer`."""

from viz import shell  # noqa: F401  --help ends here: what follows takes seconds

# isort: split
import sys
from argparse import ArgumentParser
from collections.abc import Sequence

from transformer.__main__ import main as run_command
from transformer.commands.command import Command
from transformer.discover import discover
from transformer.interrupt import STOPPED, raise_again
from transformer.refusal import Refusal
from transformer.streams import write_line, write_utf8
from viz.commands.opening import open_app
from viz.shell import parser_of


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
    ours = discover("viz.commands", "COMMAND")
    every = {"viz": ours, "transformer": discover("transformer.commands", "COMMAND")}
    titles = {it: {name: each.title for name, each in of.items()} for it, of in every.items()}

    def declare(parser: ArgumentParser, name: str) -> None:
        parser.set_defaults(command=ours[name])
        ours[name].add_arguments(parser)

    return parser_of(titles, declare)


if __name__ == "__main__":
    sys.exit(main())
