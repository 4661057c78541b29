"""DecoderLens (Langedijk et al. 2024): what is written when the decoder reads a lower layer.

A picture of what each layer of the encoder adds; no proof, since no decoder was trained to read
these layers.
"""

from copy import deepcopy
from dataclasses import replace
from itertools import chain
from typing import Any

from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode
from transformer.decoding.steps import Decoding
from transformer.inputs import InputError


def decoder_lens(
    checkpoint: Checkpoint, text: str, method: str = "greedy", **options: Any
) -> tuple[Decoding, ...]:
    """Decode the text once for each number of encoder layers, 0 first and all of them last.

    Each is what `decode` gives of `with_encoder_layers`; of no layers the decoder reads embeddings.
    Raises InputError.
    """
    numbers = range(_config(checkpoint).n_encoder_layers + 1)
    lower = (with_encoder_layers(checkpoint, n) for n in numbers)
    return tuple(decode(each, text, method=method, **options) for each in lower)


def with_encoder_layers(checkpoint: Checkpoint, n: int) -> Checkpoint:
    """The checkpoint whose decoder reads what the first n encoder layers give.

    A closing norm of the encoder stays. It shares all weights. Raises InputError where it is no
    encoder-decoder of ours, or has no such number of layers.
    """
    config = _config(checkpoint)
    if not 0 <= n <= config.n_encoder_layers:
        raise InputError(
            f"{checkpoint.name} has {config.n_encoder_layers} encoder layers: the decoder can read "
            f"0 to {config.n_encoder_layers} of them, not {n}."
        )
    whole = checkpoint.model
    tensors = {id(each): each for each in chain(whole.parameters(), whole.buffers())}
    model: Any = deepcopy(whole, tensors)
    del model.encoder.layers[n:]
    model.config = replace(config, n_encoder_layers=n)
    return replace(checkpoint, model=model, config=model.config)


def _config(checkpoint: Checkpoint) -> Any:
    """The sizes of an encoder-decoder of ours. Raises InputError."""
    if checkpoint.family.is_watched or checkpoint.family.reads != "source":
        raise InputError(
            f"{checkpoint.name} is not an encoder-decoder of ours: no decoder can be given a lower "
            "layer of an encoder."
        )
    return checkpoint.config
