"""The app in a browser, and where it listens: for all commands that open it."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace

from transformer.commands.command import Result
from transformer.extras import require


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


def place(options: Namespace) -> Result:
    """The same, as `serve` and `explore` take it."""
    return {"port": options.port, "address": options.address, "opens_browser": not options.quiet}


def open_app(options: Namespace, at: str = "") -> Result:
    """Serve the app until it is stopped. at: the link, relative to it, that is opened."""
    require("app")
    from viz.server.exploring import serve  # takes seconds: --help needs none of it

    serve(**place(options), at=at)
    return {}
