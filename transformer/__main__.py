"""python -m transformer train | decode | evaluate | sweep | list | inspect"""

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import torch

from transformer.checkpoint import (
    CARD,
    FOLDER,
    Checkpoint,
    CheckpointError,
    checkpoints_folder,
)
from transformer.decoding import InputError, decode, decoding_methods
from transformer.decoding.decode import written_text
from transformer.decoding.method import Method
from transformer.device import choose_device, device_trouble
from transformer.discover import discover
from transformer.files.whole_file import write_whole
from transformer.formats.opening import format_of, load_checkpoint
from transformer.inspection.survey import inspect
from transformer.refusal import LONGEST, Refusal, quoted
from transformer.sweep_command import add_arguments, sweep_command
from transformer.training.card import rescored
from transformer.training.task import LARGEST_CARD, Recipe, Scores, read_text
from transformer.training.train import train


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; an error a user can mend ends in one sentence and exit status 1."""
    options = _parser().parse_args(arguments)
    if options.threads:
        torch.set_num_threads(options.threads)
    try:
        with device_trouble():
            result = options.run(options)
    except Refusal as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here.", file=sys.stderr)
        return 130
    try:
        print(json.dumps(result, ensure_ascii=False) if options.json else _readable(result))
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:  # such as a full disk
        print(f"error: the result cannot be written: {error.strerror}.", file=sys.stderr)
        os.close(sys.stdout.fileno())  # what is left in its buffer is not tried again
        return 1
    return 0


def _train(options: argparse.Namespace) -> dict[str, Any]:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # being told to stop saves too
    recipe = _recipes()[options.recipe]
    if options.steps:
        recipe = replace(recipe, training=replace(recipe.training, steps=options.steps))
    output = options.output or Path(os.environ.get(FOLDER, "checkpoints")) / recipe.name
    work = Path("build/training") / output.name
    return train(recipe, options.data, output, work, options.device, options.start)


def _decode(options: argparse.Namespace) -> dict[str, Any]:
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    method = decoding_methods()[options.method]
    given = dict(_value(method, option) for option in options.option)
    decoding = decode(checkpoint, options.text, method=options.method, edits=options.edit, **given)
    sources = [token.id for token in decoding.source]
    texts = [written_text(checkpoint, sources, h.ids) for h in decoding.hypotheses]
    return {
        "text": decoding.text,
        "target": [token.piece for token in decoding.target],
        "hypotheses": [
            {"text": text, "log_prob": h.log_prob, "score": h.score}
            for text, h in zip(texts, decoding.hypotheses, strict=True)
        ],
    }


def _evaluate(options: argparse.Namespace) -> dict[str, Any]:
    checkpoint = load_checkpoint(options.checkpoint, options.device)
    recipes = _recipes()
    if checkpoint.about.recipe not in recipes:
        raise CheckpointError(
            f"{checkpoint.name} names the recipe {quoted(checkpoint.about.recipe)}, which is not "
            "here, so there is nothing to evaluate it by."
        )
    recipe = recipes[checkpoint.about.recipe]
    if options.only:
        scores = _only(recipe, options.only, checkpoint, options.data)
    else:
        scores = recipe.evaluate(checkpoint, options.data)
    if options.card:
        _rewrite(options.checkpoint / CARD, recipe, scores)
    return dict(scores)


def _rewrite(card: Path, recipe: Recipe, scores: Scores) -> None:
    """The card with these scores in place of its own of that kind. Raises TrainingError."""
    text = read_text(card.parent, card.name, LARGEST_CARD)
    write_whole(card, rescored(text, recipe, scores).encode())


def _only(
    recipe: Recipe, names: Sequence[str], checkpoint: Checkpoint, data: Path | None
) -> Scores:
    """Some parts of an evaluation, in the order asked for."""
    unknown = next((name for name in names if name not in recipe.parts), None)
    if unknown is not None:
        known = ", ".join(recipe.parts) or "none"
        raise InputError(
            f"{recipe.name} has no part {quoted(unknown)} to evaluate; its parts: {known}."
        )
    parts = (recipe.parts[name](checkpoint, data) for name in names)
    return {name: score for scores in parts for name, score in scores.items()}


def _inspect(options: argparse.Namespace) -> dict[str, Any]:
    choose_device(options.device)  # nothing runs, yet a wrong name is told
    return inspect(options.checkpoint)


def _list(options: argparse.Namespace) -> dict[str, Any]:
    try:
        inside = sorted(options.folder.iterdir())
    except OSError as error:
        raise CheckpointError(f"{options.folder} cannot be read: {error.strerror}.") from error
    found = {path.name: title for path in inside if (title := _title(path)) is not None}
    if not found:
        raise CheckpointError(f"No checkpoint in {options.folder}.")
    return found


def _title(path: Path) -> str | None:
    """What a checkpoint is, or why it cannot be opened; None for what is no checkpoint."""
    try:
        format = format_of(path)
    except Refusal:
        return None
    try:
        return format.describe(path).about.title
    except Refusal as error:
        return f"damaged: {error}"


def _value(method: Method, option: str) -> tuple[str, Any]:
    """ "beam_size=8" as a name and a value of the type of its default. Raises InputError."""
    name, _, text = option.partition("=")
    defaults: dict[str, Any] = {"max_len": 1} | {
        known.name: known.default for known in method.options
    }
    if name not in defaults:
        known = ", ".join(defaults) or "none"
        raise InputError(f"no option {quoted(name)} of this method; its options: {known}.")
    try:
        return name, type(defaults[name])(text)
    except ValueError as error:
        raise InputError(f"{name} cannot be {quoted(text)}.") from error


def _recipes() -> dict[str, Any]:
    return discover("transformer.training.recipes", "RECIPE")


def _readable(result: dict[str, Any]) -> str:
    if "hypotheses" in result:
        return str(result["text"])
    width = max(map(len, result))
    return "\n".join(f"{name:<{width}}  {_shown(value)}" for name, value in result.items())


def _shown(value: object) -> str:
    if isinstance(value, list):
        # What is said in sentences has a line each; tables are for --json.
        lines = [each for each in value if isinstance(each, str)] or ["none"] * (not value)
        return "; ".join(lines) or f"{len(value)} rows, by --json"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.2f}" if abs(value) >= 0.01 or not value else f"{value:g}"


class _Parser(argparse.ArgumentParser):
    """argparse quotes whatever was typed, whole."""

    def error(self, message: str) -> NoReturn:
        super().error(message if len(message) < LONGEST else f"{message[:LONGEST]}…")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m transformer", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")

    command = _command(commands, "train", _train, "train a recipe, or continue a stopped run")
    command.add_argument("recipe", choices=sorted(_recipes()))
    command.add_argument("--data", type=Path, help="folder of the training data")
    command.add_argument("--output", type=Path, help="checkpoint folder (checkpoints/RECIPE)")
    command.add_argument(
        "--from", dest="start", type=_checkpoint, help="begin with this checkpoint's weights"
    )
    command.add_argument("--steps", type=_positive, help="train this many steps in all")

    command = _command(commands, "decode", _decode, "decode one text")
    command.add_argument("checkpoint", type=_checkpoint, help="a folder, or a name in checkpoints/")
    command.add_argument("text")
    methods = [name for name, method in decoding_methods().items() if not method.needs_target]
    command.add_argument("--method", choices=methods, default="greedy")
    command.add_argument(
        "--option", action="append", default=[], help="of the method, as in beam_size=8"
    )
    command.add_argument(
        "--edit",
        action="append",
        default=[],
        help="change the model, as in head-off:cross.2.3; may be repeated",
    )

    command = _command(commands, "evaluate", _evaluate, "print a checkpoint's scores")
    command.add_argument("checkpoint", type=_checkpoint, help="a folder, or a name in checkpoints/")
    command.add_argument("--data", type=Path, help="folder of the evaluation data")
    command.add_argument(
        "--only", action="append", metavar="PART", help="evaluate this part; may be repeated"
    )
    command.add_argument("--card", action="store_true", help="write the scores into its card too")

    command = _command(
        commands, "sweep", sweep_command, "switch every head off, one by one, on a file's sentences"
    )
    command.add_argument("checkpoint", type=_checkpoint, help="a folder, or a name in checkpoints/")
    add_arguments(command)

    command = _command(commands, "list", _list, "name the checkpoints of a folder")
    command.add_argument("folder", type=Path, nargs="?", default=checkpoints_folder())

    command = _command(commands, "inspect", _inspect, "say what a checkpoint folder holds")
    command.add_argument("checkpoint", type=_checkpoint, help="a folder, or a name in checkpoints/")
    return parser


def _checkpoint(text: str) -> Path:
    """A folder as it stands, else one of that name among the shipped ones."""
    shipped = checkpoints_folder() / text
    return shipped if shipped.is_dir() and not Path(text).is_dir() else Path(text)


def _positive(text: str) -> int:
    number = int(text)
    if not 1 <= number < 10**9:
        raise argparse.ArgumentTypeError("must be at least 1 and below a billion")
    return number


def _command(commands: Any, name: str, run: Any, text: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
    command.set_defaults(run=run)
    command.add_argument("--device", help="cuda, mps or cpu; chosen when left out")
    command.add_argument(
        "--threads", type=_positive, help="CPU threads; torch chooses when left out"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    return command


if __name__ == "__main__":
    # A pipe closed by its reader is no error of ours.
    try:
        sys.exit(main())
    except BrokenPipeError:
        os._exit(1)
