"""python -m viz results: what learners handed in, a row for each file."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from transformer.commands.command import Command, Result, csv_file
from transformer.files.foreign_text import Unwritten, some_of, write_whole
from transformer.training.evaluation.translations import say
from viz.export import rows_csv
from viz.lessons.results import read_results


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `results`."""
    parser.add_argument("folder", type=Path, help="with the files that lessons' pages saved")
    parser.add_argument("--out", type=csv_file, help="a .csv; without it the table is printed")


def run(options: Namespace) -> Result:
    """Read the files; the table as CSV is the result. Raises Refusal."""
    results = read_results(options.folder)
    if results.left_out:
        say(f"Left out, as no lesson saved them: {some_of(results.left_out, 5)}.")
    content = rows_csv(results.rows)
    if options.out is None:
        return {"csv": content.decode()}
    try:
        write_whole(options.out, content)
    except OSError as error:
        why = f"{options.out} cannot be written ({error.strerror or error}): name another place."
        raise Unwritten(why) from error
    return {"rows": len(results.rows), "written to": str(options.out)}


def _text(result: Result) -> str:
    lines = [f"{name}: {value}" for name, value in result.items()]
    return str(result["csv"]).rstrip("\n") if "csv" in result else "\n".join(lines)


COMMAND = Command("results", "read the results of lessons", add_arguments, run, _text)
