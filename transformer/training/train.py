"""train(): a recipe from its data to a published checkpoint, with its card."""

import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from transformer.causes.first_picture import open_at
from transformer.checkpoint import CARD
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.files.foreign_text import write_whole
from transformer.formats.opening import load_checkpoint
from transformer.training.loop import Run, own_folder
from transformer.training.step import uses_half
from transformer.training.task import Recipe, Scores, TrainingError

# The model card: what a checkpoint is, its data, its training time and its scores.


def card(recipe: Recipe, run: Run, scores: Scores, needs_data: bool) -> str:
    """The card of a finished run, as Markdown."""
    model, progress = recipe.model, run.progress
    n_parameters = sum(parameter.numel() for parameter in run.model.parameters())
    command = f"python -m transformer train {recipe.name}" + needs_data * " --data DIR"
    return f"""# {recipe.name}

{recipe.about.title}. {_family(model)} Transformer: {_layers(model)}, {model.n_heads} heads,
d_model {model.d_model}, d_ff {model.d_ff}, {model.norm_order}-norm, {model.positions} positions,
a vocabulary of {model.vocab_size:,}, {n_parameters:,} parameters, stored in half precision.

## Scores

{_table(recipe, _rows(scores))}

## Data and licence

{recipe.data}

## Training

`{command}`

{progress["step"]:,} steps over {progress["tokens"]:,} tokens in
{progress["seconds"] / 60:.1f} minutes ({_speed(progress):,.0f} per second), \
{progress["cpu_seconds"] / 60:.1f} of processor time, in {" and ".join(progress["precisions"])} on
{_machine(run.device)} with torch {torch.__version__}.{_beginning(progress)}
The weights are averaged; `history.json` holds the learning curve.
"""


def _speed(progress: dict[str, Any]) -> float:
    """Tokens per second of wall time."""
    return float(progress["tokens"] / max(1.0, progress["seconds"]))


def _beginning(progress: dict[str, Any]) -> str:
    start = progress.get("start")
    return f" It began with the weights of {start}." if start else ""


def rescored(text: str, recipe: Recipe, scores: Scores) -> str:
    """A card with what was measured anew in place of its old rows; everything else in it stays.

    The rows of an evaluation begin with its title, up to the first comma, and are replaced
    together. Raises TrainingError where the card has no section of scores.
    """
    before, heading, after = text.partition("## Scores\n")
    old, next_heading, rest = after.partition("\n## ")
    if not (heading and next_heading):
        raise TrainingError("the card has no section “Scores” that ends in another section.")
    measured = {_title(name) for name in scores}
    rows = [line for line in old.splitlines() if line.startswith("| ")][2:]
    others = [row for row in rows if _title(row.removeprefix("| ")) not in measured]
    table = _table(recipe, [*others, *_rows(scores)])
    return f"{before}{heading}\n{table}\n{next_heading}{rest}"


def _title(name: str) -> str:
    return name.partition(",")[0].partition(" | ")[0]


def _rows(scores: Scores) -> list[str]:
    return [f"| {name} | {_score(value)} |" for name, value in scores.items()]


def _table(recipe: Recipe, rows: Sequence[str]) -> str:
    """The scores, and how they were made."""
    lines = "\n".join(rows)
    return f"""| evaluation | score |
| --- | --- |
{lines}

{recipe.scored} Measured on the files of this folder."""


def _score(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def _family(model: ModelConfig) -> str:
    title: str = discover("transformer.models", "FAMILY")[model.family].title
    return title


def _layers(model: ModelConfig) -> str:
    """ "3+3 layers" of an encoder and a decoder, "4 layers" of one of them.

    >>> _layers(ModelConfig(n_encoder_layers=1, n_decoder_layers=0))
    '1 layer'
    """
    numbers = [n for n in (model.n_encoder_layers, model.n_decoder_layers) if n]
    return "+".join(map(str, numbers)) + " layer" + "s" * (sum(numbers) > 1)


def _machine(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    n_threads = torch.get_num_threads()
    return f"{n_threads} thread{'s' * (n_threads > 1)} ({platform.machine()} CPU)"


# train(): a recipe from its data to a published checkpoint, with its card.


def train(
    recipe: Recipe,
    data: Path | None,
    output: Path,
    work: Path,
    device: str | None = None,
    start: Path | None = None,
) -> Scores:
    """Train, or go on where a stopped run left off; then evaluate and publish to `output`.

    work: the run's own folder, and no other process's meanwhile; it is kept, so that more steps can
    be added later. start: a checkpoint whose weights a new run begins with.
    Raises TrainingError, and DeviceError for a setting that cannot be read.
    """
    uses_half()  # a wrong setting is told before data are prepared
    with own_folder(work):
        run = Run(recipe, recipe.prepare(recipe, data, work), work, device, start)
        run.train()
        run.publish(output)
        open_at(load_checkpoint(output, device), is_new=True)
        scores = recipe.evaluate(load_checkpoint(output, device), data)
        write_whole(output / CARD, card(recipe, run, scores, data is not None).encode())
    return scores
