"""What our training step takes, against plain float32 training of the same batches."""

import os
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import nn

from tests.bench.bench import Bench, Row, paired_ratio
from transformer.models.encoder_decoder import EncoderDecoder
from transformer.training.batches import IGNORED, Batch, make_batch
from transformer.training.recipes.en_de import EN_DE_DEEP_RECIPE as DEEP
from transformer.training.recipes.en_de import EN_DE_RECIPE
from transformer.training.step import Shares, Update
from transformer.training.task import Recipe

LENGTHS, PAIRS = (6, 9, 12, 18, 30), 5
"""Tokens per sentence, as the recipe's data has them."""


def run(is_quick: bool) -> list[Row]:
    lengths, pairs, part = (LENGTHS[:1], 1, 50) if is_quick else (LENGTHS, PAIRS, 1)
    training, batches = (
        EN_DE_RECIPE.training,
        [_batch(EN_DE_RECIPE, length, part) for length in lengths],
    )
    update, plain = Update(_model(EN_DE_RECIPE), training), plain_step(_model(EN_DE_RECIPE))

    def ours() -> None:
        for batch in batches:
            update(batch, 1.0)

    def before() -> None:
        for batch in batches:
            plain(batch)

    name = f"training step, {update.precision}, seconds per token"
    baseline = "float32, all pieces in the loss, autograd throughout"
    rows = [Row(name, paired_ratio(ours, before, pairs), baseline, goal=0.25)]
    return rows if (os.cpu_count() or 1) < 2 else [*rows, _shared(lengths, pairs, part)]


def _shared(lengths: Sequence[int], pairs: int, part: int) -> Row:
    """Two threads, each with half of the rows, against the same two within each product."""
    batches = [_batch(DEEP, length, part) for length in lengths]
    own = torch.get_num_threads()
    torch.set_num_threads(2)
    update = Update(_model(DEEP), DEEP.training)
    shared, within = update.shares, Shares(1)

    def steps(by: Shares) -> Callable[[], None]:
        def take() -> None:
            update.shares = by
            for batch in batches:
                update(batch, 1.0)

        return take

    ratio = paired_ratio(steps(shared), steps(within), pairs)
    torch.set_num_threads(own)
    return Row("training step, rows shared by two threads", ratio, "two threads in each product")


def plain_step(model: nn.Module) -> Callable[[Batch], None]:
    """A step as torch's own parts make it."""
    training = EN_DE_RECIPE.training
    optimizer = torch.optim.AdamW(model.parameters(), training.learning_rate, fused=True)

    def step(batch: Batch) -> None:
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(
            model(*batch.inputs).flatten(0, -2),
            batch.target_output.flatten(),
            ignore_index=IGNORED,
            label_smoothing=training.label_smoothing,
        ).backward()
        nn.utils.clip_grad_norm_(model.parameters(), training.gradient_clip)
        optimizer.step()

    return step


def _model(recipe: Recipe) -> nn.Module:
    torch.manual_seed(0)
    return EncoderDecoder(recipe.model).train()


def _batch(recipe: Recipe, length: int, part: int) -> Batch:
    """Random pieces, common ones more often: the n-th as often as 1/n.

    part: the batch is the recipe's, divided by this.
    """
    n_pieces = recipe.model.vocab_size
    random = torch.Generator().manual_seed(length)
    n_rows = recipe.training.tokens_per_batch // (2 * length * part)
    logs = torch.rand(2, n_rows, length, generator=random) * torch.log(torch.tensor(n_pieces))
    source, target = logs.exp().long().clamp(3, n_pieces - 1).tolist()
    return make_batch(list(zip(source, target, strict=True)), recipe.model.pad_id, 1)


BENCH = Bench("training", run)
