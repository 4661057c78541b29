"""A text that a model continues behind given tokens: greedy decoding from there."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from transformer.checkpoint import Checkpoint
from transformer.decoding.alone import OnStep, alone
from transformer.decoding.method import Ask, Hypothesis, Model, Search, length_limit
from transformer.editing.read_words import read_words
from transformer.editing.running import edited
from transformer.edits.edit import Edit
from transformer.token import Token

IsEnough = Callable[[Sequence[Token]], bool]
"""Told all tokens that are written, those that were given aside; True ends the writing."""


def continuation(
    checkpoint: Checkpoint,
    text: str,
    before: Sequence[Token],
    edits: Sequence[Edit] = (),
    is_enough: IsEnough | None = None,
    on_step: OnStep | None = None,
    max_len: int | None = None,
) -> tuple[Token, ...]:
    """Write on behind `before`, of the target, up to an end; without `before` itself.

    is_enough: asked after each token. max_len: of the whole target, in tokens, as in `decode`;
    None: the model's own limit. Raises InputError, of an edit EditError.
    """
    sources, of_model = read_words(checkpoint, text, edits)
    token = checkpoint.tokenizer.token

    def enough(ids: Sequence[int]) -> bool:
        return is_enough is not None and is_enough(tuple(map(token, ids)))

    with torch.inference_mode(), edited(checkpoint, text, sources, of_model) as model:
        source = torch.tensor([sources], device=checkpoint.device)
        search = _search(model, source, [each.id for each in before], enough, max_len)
        (hypothesis,) = alone(model, search, source, on_step)
    return tuple(map(token, hypothesis.ids))


def _search(
    model: Model,
    source: Tensor,
    before: Sequence[int],
    enough: Callable[[Sequence[int]], bool],
    max_len: int | None,
) -> Search:
    first = source.new_tensor([before], dtype=source.dtype)
    read = torch.cat([model.first(source), first], dim=1)
    ids: list[int] = []
    for _ in range(length_limit(model, source, max_len) - len(before)):
        logits = yield Ask(read)
        ids.append(int(logits[0, -1].argmax()))
        if ids[-1] in model.config.eos_ids or enough(ids):
            break
        read = source.new_tensor([ids[-1:]])
    return [Hypothesis(tuple(ids), torch.empty(len(ids), 0), 0.0)]
