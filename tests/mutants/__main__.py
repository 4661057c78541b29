"""python -m tests.mutants [NAME ...] [--all] [--write]: the test that finds each fault, or none.

Every fault is put into a copy of the tree. There the tests that most probably see it run first, up
to the first that fails: those that are called after the file, those in the folder that mirrors its
own, those that name it or its folder, its room, the golden files, all others, and at last the
browser's. A test that fails without the fault, too, finds nothing. Without --all, those that
`make test` leaves out are left out.
"""

import argparse
from collections.abc import Sequence

from tests.mutants.faults import FAULTS, Fault
from tests.mutants.trying import FOUND, Result, markdown, trying


def main(names: Sequence[str], is_all: bool, writes: bool, workers: int) -> None:
    """Try the faults of these names; of none, all."""
    unknown = set(names) - {fault.name for fault in FAULTS}
    if unknown:
        raise SystemExit(f"There is no fault called {', '.join(sorted(unknown))}.")
    results: list[tuple[Fault, Result]] = []
    for fault in FAULTS:
        if not names or fault.name in names:
            result = trying(fault, is_all, workers)
            results.append((fault, result))
            print(f"{fault.name}: {result.text} ({result.seconds:.0f} s)", flush=True)
    n_found = sum(result.is_found for _, result in results)
    print(f"{n_found} of {len(results)} faults were found.")
    if writes:
        FOUND.write_text(markdown(results, is_all), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser("python -m tests.mutants", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults; all where none is named")
    parser.add_argument("--all", action="store_true", help="with the tests of make test-all")
    parser.add_argument("--write", action="store_true", help=f"write {FOUND.name}")
    parser.add_argument("--workers", type=int, default=0, metavar="N", help="of pytest; 0: none")
    asked = parser.parse_args()
    main(asked.names, asked.all, asked.write, asked.workers)
