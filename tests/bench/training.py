"""What our training step takes, against plain float32 training of the same batches."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import nn

from tests.bench.bench import Bench, Row, paired_ratio
from transformer.models.encoder_decoder import EncoderDecoder
from transformer.training.batches import IGNORED, Batch, make_batch
from transformer.training.recipes.en_de import RECIPE
from transformer.training.update import Update

LENGTHS, PAIRS = (6, 9, 12, 18, 30), 5
"""Tokens per sentence, as the recipe's data has them."""


def run(is_quick: bool) -> list[Row]:
    lengths, pairs = (LENGTHS[:1], 1) if is_quick else (LENGTHS, PAIRS)
    training, batches = RECIPE.training, [*map(_batch, lengths)]
    update, plain = Update(_model(), training), plain_step(_model())

    def ours() -> None:
        for batch in batches:
            update(batch, 1.0)

    def before() -> None:
        for batch in batches:
            plain(batch)

    name = f"training step, {update.precision}, seconds per token"
    baseline = "float32, all pieces in the loss, autograd throughout"
    return [Row(name, paired_ratio(ours, before, pairs), baseline, goal=0.25)]


def plain_step(model: nn.Module) -> Callable[[Batch], None]:
    """A step as torch's own parts make it."""
    training = RECIPE.training
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


def _model() -> nn.Module:
    torch.manual_seed(0)
    return EncoderDecoder(RECIPE.model).train()


def _batch(length: int) -> Batch:
    """Random pieces, common ones more often: the n-th as often as 1/n."""
    n_pieces = RECIPE.model.vocab_size
    random = torch.Generator().manual_seed(length)
    n_rows = RECIPE.training.tokens_per_batch // (2 * length)
    logs = torch.rand(2, n_rows, length, generator=random) * torch.log(torch.tensor(n_pieces))
    source, target = logs.exp().long().clamp(3, n_pieces - 1).tolist()
    return make_batch(list(zip(source, target, strict=True)), RECIPE.model.pad_id, 1)


BENCH = Bench("training", run)
