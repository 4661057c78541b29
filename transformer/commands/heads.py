"""python -m transformer heads: every metric of every head over one text, or the words of one."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from transformer.analysis.tables.heads_file import alignment_text, metrics_csv
from transformer.commands.arguments import add_checkpoint, csv_file, new_file
from transformer.commands.command import Command, Result
from transformer.decoding import decode
from transformer.files.whole_file import write_whole
from transformer.formats.opening import load_checkpoint
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.recording.ours import record


def add_arguments(parser: ArgumentParser) -> None:
    """Add what `heads` takes."""
    add_checkpoint(parser)
    parser.add_argument("text")
    parser.add_argument("--out", type=new_file, help="a .csv; without it the table is printed")
    parser.add_argument(
        "--align",
        type=head,
        metavar="LAYER.HEAD",
        help="the words that this head of cross-attention links, as 0-0 1-2",
    )


def head(text: str) -> tuple[int, int]:
    """ "2.3" as layer and head. Raises ArgumentTypeError."""
    layer, _, number = text.partition(".")
    if not (layer.isdecimal() and number.isdecimal()):
        raise ArgumentTypeError("must be a layer and a head from 0, as in 2.3")
    return int(layer), int(number)


def run(options: Namespace) -> Result:
    """The file, as a text or by its name. Raises Refusal."""
    if options.out is not None and not options.align:
        _check_table(options.out)
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    decodes = checkpoint.family.decodes
    target = decode(checkpoint, options.text).target if decodes else None
    recording = record(checkpoint, options.text, target)
    file = _links(recording, *options.align) if options.align else metrics_csv(recording)
    if options.out is None:
        return {"file": file.decode()}
    write_whole(options.out, file)
    return {"written": str(options.out)}


def _check_table(file: Path) -> None:
    """Raise InputError for a name that says another format than CSV."""
    try:
        csv_file(str(file))
    except ArgumentTypeError as error:
        raise InputError(f"{file} {error}.") from error


def _links(recording: Recording, layer: int, number: int) -> bytes:
    cross = recording.attentions.get("cross")
    if cross is None:
        raise InputError("Words are aligned by cross-attention, and this model has none.")
    if layer >= cross.n_layers or number >= cross.n_heads:
        raise InputError(
            f"There is no head {layer}.{number}: there are {cross.n_layers} layers of "
            f"{cross.n_heads} heads, counted from 0."
        )
    return alignment_text(recording, layer, number)


COMMAND = Command(
    "heads",
    "write every metric of every head over a text, or a head's word alignment",
    add_arguments,
    run,
    text=lambda result: "".join(result.values()).rstrip("\n"),
)
