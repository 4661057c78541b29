"""The app, with `explore script.py:build` a module of your own in it; or one of these commands:
train, decode, evaluate, inspect.
"""

import sys
from collections.abc import Sequence

COMMANDS = ("train", "decode", "evaluate", "inspect")
"""What needs no browser."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Without an argument the app starts."""
    said = sys.argv[1:] if arguments is None else list(arguments)
    if said and said[0] in COMMANDS:
        from transformer.__main__ import main as command

        return command(said)
    from viz.__main__ import main as app

    return app(said, __doc__)


if __name__ == "__main__":
    sys.exit(main())
