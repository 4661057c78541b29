"""decode(): text in, the chosen target and how it came about out."""

from typing import Any

import torch

from transformer.checkpoint import Checkpoint
from transformer.decoding.method import Method
from transformer.decoding.steps import Decoding, steps_of
from transformer.discover import discover
from transformer.inputs import source_ids, target_ids


def decoding_methods() -> dict[str, Method]:
    """name -> method, for every file of this folder that declares one."""
    return discover("transformer.decoding", "METHOD")


def decode(checkpoint: Checkpoint, source: str, method: str = "greedy", **options: Any) -> Decoding:
    """Decode a source text.

    method: "greedy", "beam" (beam_size, length_penalty) or "forced" (target: text or tokens); all
    take max_len, in tokens. Raises InputError when the text cannot be read, ValueError for an
    unknown method.
    """
    methods = decoding_methods()
    if method not in methods:
        raise ValueError(f"unknown decoding method {method!r}; known: {', '.join(methods)}.")
    sources = source_ids(checkpoint, source)
    if methods[method].needs_target:
        options["target_ids"] = tuple(target_ids(checkpoint, options.pop("target", None)))
    with torch.inference_mode():
        hypotheses = methods[method].run(
            checkpoint.model, torch.tensor([sources], device=checkpoint.device), **options
        )
    best = hypotheses[0]
    token = checkpoint.tokenizer.token
    return Decoding(
        text=checkpoint.tokenizer.decode(best.ids),
        source=tuple(map(token, sources)),
        target=tuple(map(token, best.ids)),
        steps=steps_of(best, checkpoint.tokenizer),
        hypotheses=tuple(hypotheses),
        is_ended=checkpoint.config.eos_id in (None, best.ids[-1]),
    )
