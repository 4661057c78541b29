"""A command of the shell, declared as data."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Result = dict[str, Any]
"""Names and values, as JSON has them."""


def table(result: Result) -> str:
    """A line for each name; what is a list is counted, unless it is of sentences."""
    width = max(map(len, result))
    return "\n".join(f"{name:<{width}}  {_value(value)}" for name, value in result.items())


def _value(value: object) -> str:
    if isinstance(value, list):
        # What is said in sentences has a line each; tables are for --json.
        lines = [each for each in value if isinstance(each, str)] or ["none"] * (not value)
        return "; ".join(lines) or f"{len(value)} rows, by --json"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.2f}" if abs(value) >= 0.01 or not value else f"{value:g}"


@dataclass(frozen=True)
class Command:
    """One command: what `python -m transformer NAME` takes and does."""

    name: str
    title: str
    """A sentence in the imperative, for --help."""
    add_arguments: Callable[[ArgumentParser], None]
    """Adds its own; all commands have --device, --threads and --json."""
    run: Callable[[Namespace], Result]
    """Raises Refusal."""
    text: Callable[[Result], str] = table
    """Makes the text that is printed of a result without --json."""
