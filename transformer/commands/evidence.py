"""python -m transformer evidence: what each written word looks at, and what it needs."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from transformer.causes.evidence import Evidence, evidence
from transformer.causes.evidence_file import evidence_csv, evidence_values
from transformer.causes.omissions import MOST
from transformer.commands.arguments import add_checkpoint
from transformer.commands.command import Command, Result
from transformer.files.whole_file import write_whole
from transformer.formats.opening import load_checkpoint
from transformer.visible import visible


def add_arguments(parser: ArgumentParser) -> None:
    """Add what `evidence` takes."""
    add_checkpoint(parser)
    parser.add_argument("text")
    parser.add_argument("--target", help="what is written; without it, what greedy decoding writes")
    parser.add_argument(
        "--edit",
        action="append",
        default=[],
        help="in force all the while, as in head-off:cross.2.3; may be repeated",
    )
    parser.add_argument("--out", type=Path, help="a .csv with every pair of words")


def run(options: Namespace) -> Result:
    """The verdicts and every matrix, or the file's name. Raises Refusal."""
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    result = evidence(checkpoint, options.text, options.target, options.edit)
    if options.out is not None:
        write_whole(options.out, evidence_csv(result))
        return {"written": str(options.out)}
    return evidence_values(result) | {"lines": lines(result)}


def lines(result: Evidence) -> list[str]:
    """A sentence for each written word, and one of omissions; where nothing is written, what costs
    most.
    """
    if result.verdicts:
        words = ", ".join(f"“{result.source_words[i]}”" for i in result.omissions)
        least = f"No written word needs (by {MOST} nats): {words}."
        return [*(verdict.text for verdict in result.verdicts), *[least] * bool(words)]
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


COMMAND = Command(
    "evidence",
    "say what each written word looks at, and which word it cannot be written without",
    add_arguments,
    run,
    text=text,
)
