"""Greedy targets of many sources in one batch: ids only, for whoever keeps no distributions."""

from collections.abc import Sequence

import torch

from transformer.checkpoint import Checkpoint, Config
from transformer.models.encoder_decoder import EncoderDecoder
from transformer.models.family import Ids
from transformer.recording.ours import padded_batch


def takes_batches(checkpoint: Checkpoint) -> bool:
    """Tell whether `greedy_batch` is for this model: an encoder-decoder of ours."""
    return isinstance(checkpoint.model, EncoderDecoder)


@torch.inference_mode()
def greedy_batch(checkpoint: Checkpoint, sources: Sequence[Ids]) -> list[list[int]]:
    """The target of each source, end token included, as `decode(..., "greedy")` writes it.

    A padded batch rounds otherwise than one text by itself, so that of two tokens which are equally
    probable but for 1e-5 it may write the other.
    """
    model, config = checkpoint.model, checkpoint.config
    if not isinstance(model, EncoderDecoder):
        raise ValueError(
            f"{checkpoint.name} is not an encoder-decoder of ours: decode texts one by one."
        )
    batch = padded_batch(sources, config.pad_id, checkpoint.device)
    state, tokens = model.start(batch), model.first(batch)
    rooms = [max(1, model.room(len(ids))) for ids in sources]
    targets: list[list[int]] = [[] for _ in sources]
    going = list(range(len(sources)))
    while True:
        chosen = model.advance(state, tokens)[:, -1].argmax(-1).tolist()
        for text, id in zip(going, chosen, strict=True):
            targets[text].append(id)
        rows = [
            row for row, text in enumerate(going) if _goes_on(config, targets[text], rooms[text])
        ]
        if not rows:
            return targets
        if len(rows) < len(going):
            state.reorder(torch.tensor(rows, device=checkpoint.device))
            going = [going[row] for row in rows]
        tokens = batch.new_tensor([[targets[text][-1]] for text in going])


def _goes_on(config: Config, target: Sequence[int], room: int) -> bool:
    return target[-1] not in config.eos_ids and len(target) < room
