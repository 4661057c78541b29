"""python -m viz figure: a picture of an address of the app, as a file, without a browser."""

from argparse import ArgumentParser, Namespace

from transformer.commands.command import Command, Result
from transformer.extras import require


def add_arguments(parser: ArgumentParser) -> None:
    """Declare the arguments of `figure`."""
    parser.add_argument("screen", metavar="ADDRESS", help="of the app, as its link button gives it")
    parser.add_argument(
        "--out", required=True, help=".svg, .pdf, .png, or .zip: a crate with all that makes it"
    )
    parser.add_argument("--data", help="its numbers, too: .csv, .parquet, or .npz of all heads")
    parser.add_argument(
        "--width", type=float, help="in inches: 3.3 is a column of a paper, 6.9 two"
    )
    parser.add_argument("--slide", action="store_true", help="fill a slide of 16:9, 13.33 in wide")
    parser.add_argument("--theme", choices=("light", "dark"), default="light", help="its colours")
    parser.add_argument(
        "--picture",
        help="of a page with several, as 'grid' on Explore; a name that is not there lists all",
    )


def run(options: Namespace) -> Result:
    """Write the figure; its caption is the result. Raises Refusal."""
    require("paper")
    from viz.figure_at import save_figure  # takes a second: --help needs none of it

    return {"caption": save_figure(options)}


COMMAND = Command(
    "figure",
    "save a picture of the app, without a browser",
    add_arguments,
    run,
    text=lambda result: str(result["caption"]),
)
