"""Commands that read one text: evidence, heads."""

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence

from transformer.analysis.lost import how_known, lost_sentence
from transformer.analysis.tables import alignment_text, metrics_csv
from transformer.causes.contrast import contrast, contrast_lines, contrast_values, word_number
from transformer.causes.evidence import Evidence, evidence, evidence_csv, evidence_values
from transformer.causes.pruning import pruning, pruning_values
from transformer.causes.repairs import repairs, repairs_lines, repairs_values
from transformer.checkpoint import Checkpoint
from transformer.commands.command import Command, Result, add_checkpoint, csv_file, new_file
from transformer.decoding import decode
from transformer.decoding.decode import decoding_methods
from transformer.files.foreign_text import write_whole
from transformer.formats.opening import load_checkpoint
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.refusal import visible
from transformer.token import Token

# python -m transformer evidence: what each written word looks at, and what it needs.
#
# With another word for one of them: what speaks for either, and what would make the model write
# it.


def add_arguments_evidence(parser: ArgumentParser) -> None:
    """Add what `evidence` takes."""
    add_checkpoint(parser)
    parser.add_argument("text")
    parser.add_argument("--target", help="what is written; without it, what the model writes")
    methods = [name for name, method in decoding_methods().items() if not method.needs_target]
    parser.add_argument(
        "--method", choices=methods, default="greedy", help="the decoding that writes"
    )
    parser.add_argument(
        "--at", metavar="WORD", help="a written word, or its number from 0: with --instead"
    )
    parser.add_argument(
        "--instead",
        metavar="WORDS",
        help="the right word there: its rank, and what speaks for either",
    )
    parser.add_argument(
        "--repairs",
        action="store_true",
        help="the smallest changes after which the decoding writes it",
    )
    parser.add_argument(
        "--edit",
        action="append",
        default=[],
        help="in force all the while, as in head-off:cross.2.3; may be repeated",
    )
    parser.add_argument("--out", type=csv_file, help="a .csv with every pair of words")


def run_evidence(options: Namespace) -> Result:
    """The verdicts and every matrix, or the file's name. Raises Refusal."""
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    if options.at is not None or options.instead is not None or options.repairs:
        return _instead(checkpoint, options)
    target = options.target
    if target is None and checkpoint.family.decodes:
        target = decode(checkpoint, options.text, options.method, edits=options.edit).target
    result = evidence(checkpoint, options.text, target, options.edit)
    if options.out is not None:
        write_whole(options.out, evidence_csv(result))
        return {"written": str(options.out)}
    return evidence_values(result) | {"lines": lines(result)}


def _instead(checkpoint: Checkpoint, options: Namespace) -> Result:
    """Another word for a written one, and its repairs where they are asked for. Raises Refusal."""
    if options.at is None or options.instead is None:
        raise InputError(
            "Another word needs --at, the written word, and --instead, the one that is right."
        )
    if options.out is not None:
        raise InputError("--out writes the evidence of all words: leave out --at and --instead.")
    if options.repairs and options.target is not None:
        raise InputError("--repairs are of what the method itself writes: leave out --target.")
    plan = {"method": options.method, "edits": options.edit}
    decoding = decode(checkpoint, options.text, **plan)
    target: Sequence[Token] = decoding.target
    if options.target is not None:
        target = record(checkpoint, options.text, options.target).target
    word = word_number(target, options.at)
    inputs = (checkpoint, options.text, target, word, options.instead)
    result = contrast(*inputs, options.edit)
    values = contrast_values(result) | {"lines": contrast_lines(result)}
    if options.target is None:
        way = pruning(decoding.search, result.place, result.pieces)
        values |= {"search": pruning_values(way)}
        values["lines"] += [way.text] if way is not None else []
    if options.repairs:
        tried = repairs(*inputs, **plan)
        values |= {"repairs": repairs_values(tried)}
        values["lines"] += repairs_lines(tried)
    return values


def lines(result: Evidence) -> list[str]:
    """A sentence for each written word, and one of what is lost; where nothing is written, what
    costs most.
    """
    if result.verdicts:
        lost = f"{lost_sentence(result.lost)} {how_known(result.lost)}" if result.lost else ""
        last = lost or result.not_judged
        return [*(verdict.text for verdict in result.verdicts), *[last] * bool(last)]
    most = [int(costs.abs().argmax()) for costs in result.hidden]  # a number may grow
    return [
        f"“{word}” needs “{result.source_words[s]}” most ({result.hidden[t, s]:.2f} {result.unit})."
        for t, (word, s) in enumerate(zip(result.target_words, most, strict=True))
    ]


def text(result: Result) -> str:
    """The sentences, or the name of the file."""
    if "written" in result:
        return str(result["written"])
    return visible("\n".join(result["lines"]), " \n")


EVIDENCE_COMMAND = Command(
    "evidence",
    "say what each written word looks at, and which word it cannot be written without",
    add_arguments_evidence,
    run_evidence,
    text=text,
)


# python -m transformer heads: every metric of every head over one text, or the words of one.


def add_arguments_heads(parser: ArgumentParser) -> None:
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


def run_heads(options: Namespace) -> Result:
    """The file, as a text or by its name. Raises Refusal."""
    if options.out is not None and not options.align:
        # Raise InputError for a name that says another format than CSV.
        try:
            csv_file(str(options.out))
        except ArgumentTypeError as error:
            raise InputError(f"{options.out} {error}.") from error
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    decodes = checkpoint.family.decodes
    target = decode(checkpoint, options.text).target if decodes else None
    recording = record(checkpoint, options.text, target)
    file = _links(recording, *options.align) if options.align else metrics_csv(recording)
    if options.out is None:
        return {"file": file.decode()}
    write_whole(options.out, file)
    return {"written": str(options.out)}


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


HEADS_COMMAND = Command(
    "heads",
    "write every metric of every head over a text, or a head's word alignment",
    add_arguments_heads,
    run_heads,
    text=lambda result: "".join(result.values()).rstrip("\n"),
)


COMMAND = (
    EVIDENCE_COMMAND,
    HEADS_COMMAND,
)
