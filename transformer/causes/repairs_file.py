"""Repairs of a written word, as values for JSON and as lines for a shell."""

from typing import Any

from transformer.causes.changes import Change
from transformer.causes.repairs import Repairs

MOST = 12
"""Repairs that have a line."""


def repairs_values(result: Repairs) -> dict[str, Any]:
    """Name -> value of everything, as JSON has them."""
    return {
        "text": result.text,
        "n_changes": result.n_changes,
        "n_decoded": result.n_decoded,
        "repairs": [
            {
                "kind": it.change.kind,
                "method": it.change.method,
                "edits": [str(edit) for edit in it.change.edits],
                "cost": it.cost,
                "text": it.text,
            }
            for it in result.repairs
        ],
    }


def repairs_lines(result: Repairs) -> list[str]:
    """A line for each of the cheapest: its cost, what is changed, and what is written then."""
    lines = [result.text]
    for it in result.repairs[:MOST]:
        lines.append(f"{it.cost:6.2f} nats  {changed(it.change)}: {it.text}")
    return lines


def changed(change: Change) -> str:
    """Say what a change does, as a shell spells it."""
    if change.method:
        return f"--method {change.method}"
    if change.kind == "rows":
        return f"{len(change.edits)} rows forced"
    return " ".join(map(str, change.edits))
