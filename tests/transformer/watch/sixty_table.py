"""docs/models.md's table of modules: `python -m tests.transformer.watch.sixty_table`."""

import re
from pathlib import Path

from tests.transformer.watch import sixty_heads, sixty_latents, sixty_orders
from tests.transformer.watch.sixty import CASES, OUTCOMES

DOCUMENT = Path(__file__).parents[3] / "docs" / "models.md"
HEAD = "| Outcome | Modules | Mechanisms |\n| --- | --- | --- |\n"
FILES = (sixty_heads, sixty_latents, sixty_orders)


def table() -> str:
    """One row an outcome: what is asserted of each module, and of nothing else."""
    rows = []
    for outcome in OUTCOMES:
        names = [_spaced(name) for name, of in CASES.items() if of.outcome == outcome]
        rows.append(f"| {outcome} | {len(names)} | {', '.join(names)} |\n")
    return HEAD + "".join(rows)


def _spaced(name: str) -> str:
    """SortByMatrix -> sort by matrix"""
    return " ".join(re.findall(r"[A-Z][a-z]*", name)).lower()


def main() -> None:
    """Write the table into the document."""
    before, _, after = DOCUMENT.read_text("utf-8").partition(HEAD)
    rest = after.partition("\n\n")[2]
    DOCUMENT.write_text(f"{before}{table()}\n{rest}", "utf-8")


if __name__ == "__main__":
    main()
