"""train(): a recipe from its data to a published checkpoint, with its card."""

import platform
from pathlib import Path

import torch

from transformer.checkpoint import CARD, load_checkpoint
from transformer.training.loop import Run
from transformer.training.task import Recipe, Scores
from transformer.whole_file import write_whole


def train(
    recipe: Recipe, data: Path | None, output: Path, work: Path, device: str | None = None
) -> Scores:
    """Train, or go on where a stopped run left off; then evaluate and publish to `output`.

    work: the run's own folder; it is kept, so that more steps can be added later.
    Raises TrainingError.
    """
    run = Run(recipe, recipe.prepare(recipe, data, work), work, device)
    run.train()
    run.publish(output)
    scores = recipe.evaluate(load_checkpoint(output, device), data)
    write_whole(output / CARD, card(recipe, run, scores, data is not None).encode())
    return scores


def card(recipe: Recipe, run: Run, scores: Scores, needs_data: bool) -> str:
    """The model card: what it is, from what, how long it took and how good it is."""
    model, progress = recipe.model, run.progress
    n_parameters = sum(parameter.numel() for parameter in run.model.parameters())
    command = f"python -m transformer train {recipe.name}"
    if needs_data:
        command += " --data DIR"
    rows = "\n".join(f"| {name} | {value:.1f} |" for name, value in scores.items())
    return f"""# {recipe.name}

{recipe.about.title}. Encoder-decoder Transformer: {model.n_encoder_layers}+{model.n_decoder_layers}
layers, {model.n_heads} heads, d_model {model.d_model}, d_ff {model.d_ff}, {model.norm_order}-norm,
{model.vocab_size:,} pieces, {n_parameters:,} parameters, stored in half precision.

## Scores

| evaluation | score |
| --- | --- |
{rows}

BLEU and chrF by sacrebleu's defaults, against the first reference. Measured on this folder's files.

## Data and licence

{recipe.data}

## Training

`{command}`:
{progress["step"]:,} steps, {progress["tokens"]:,} tokens (source and target),
{progress["seconds"] / 60:.0f} minutes ({progress["cpu_seconds"] / 60:.0f} CPU-minutes) on
{_machine(run.device)}, torch {torch.__version__}. Averaged weights; `history.json` holds the curve.
"""


def _machine(device: torch.device) -> str:
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{torch.get_num_threads()} threads of a {platform.machine()} CPU"
