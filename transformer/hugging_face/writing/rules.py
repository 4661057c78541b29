"""A folder's rules of writing: settings that change the scores of a step.

They are the library's own processors of scores, so that a text is what its `generate` writes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer.hugging_face.writing.values import (
    IsLegal,
    are_biases,
    are_ids,
    are_runs,
    is_count,
    is_decay,
    is_flag,
    is_id_or_ids,
    is_one_id,
    is_penalty,
)

RULES: Mapping[str, IsLegal] = {
    "sequence_bias": are_biases,
    "encoder_repetition_penalty": is_penalty,
    "repetition_penalty": is_penalty,
    "no_repeat_ngram_size": is_count,
    "encoder_no_repeat_ngram_size": is_count,
    "bad_words_ids": are_runs,
    "min_length": is_count,
    "min_new_tokens": is_count,
    "forced_bos_token_id": is_one_id,
    "forced_eos_token_id": is_id_or_ids,
    "exponential_decay_length_penalty": is_decay,
    "suppress_tokens": are_ids,
    "begin_suppress_tokens": are_ids,
    "renormalize_logits": is_flag,
}
"""Name -> whether a value can be followed, in the order in which `generate` applies them."""
NEED_END = frozenset({"min_length", "min_new_tokens", "exponential_decay_length_penalty"})


def rules_for(
    settings: Mapping[str, Any],
    source: Tensor,
    starts: Sequence[int],
    limit: int,
    eos_ids: frozenset[int],
    is_cut: bool = False,
) -> Callable[[Tensor, Tensor], Tensor] | None:
    """Make what changes the scores of each step; None where nothing does.

    source: [1, S], what an encoder reads or what is continued. starts: what a decoder beside an
    encoder is fed first; empty: there is none. limit: how many tokens may be written. is_cut: True
    where neither the folder nor a person says that limit, so that no end is forced there.
    """
    from transformers.generation import logits_process as library

    theirs: Any = library
    n_before = len(starts) or source.size(1)
    n_begun = 1 if starts else source.size(1)  # `generate` counts a forced token as written
    ends = torch.tensor(sorted(eos_ids), device=source.device)
    bos = settings.get("forced_bos_token_id")
    is_told = bos is not None and source.size(1) == 1 and not starts
    makers: Mapping[str, Callable[[Any], Any]] = {
        "sequence_bias": theirs.SequenceBiasLogitsProcessor,
        "encoder_repetition_penalty": lambda value: theirs.EncoderRepetitionPenaltyLogitsProcessor(
            value, source
        ),
        "repetition_penalty": theirs.RepetitionPenaltyLogitsProcessor,
        "no_repeat_ngram_size": theirs.NoRepeatNGramLogitsProcessor,
        "encoder_no_repeat_ngram_size": lambda value: theirs.EncoderNoRepeatNGramLogitsProcessor(
            value, source
        ),
        "bad_words_ids": lambda value: theirs.NoBadWordsLogitsProcessor(value, ends),
        "min_length": lambda value: theirs.MinLengthLogitsProcessor(value, ends, source.device),
        "min_new_tokens": lambda value: theirs.MinNewTokensLengthLogitsProcessor(
            n_begun, value, ends, source.device
        ),
        "forced_bos_token_id": theirs.ForcedBOSTokenLogitsProcessor,
        "forced_eos_token_id": lambda value: theirs.ForcedEOSTokenLogitsProcessor(
            n_before + limit, value, source.device
        ),
        "exponential_decay_length_penalty": lambda value: theirs.ExponentialDecayLengthPenalty(
            tuple(value), ends, n_begun
        ),
        "suppress_tokens": lambda value: theirs.SuppressTokensLogitsProcessor(value, source.device),
        "begin_suppress_tokens": lambda value: theirs.SuppressTokensAtBeginLogitsProcessor(
            value, n_before + is_told, source.device
        ),
        "renormalize_logits": lambda value: theirs.LogitNormalization(),
    }
    left_out = set() if eos_ids else set(NEED_END)
    left_out |= set() if is_told else {"forced_bos_token_id"}
    left_out |= {"forced_eos_token_id"} if is_cut else set()
    processors = theirs.LogitsProcessorList(
        makers[name](settings[name]) for name in RULES if name in settings.keys() - left_out
    )
    if not processors:
        return None
    before = source.new_tensor([starts]) if starts else source

    def rule(output: Tensor, scores: Tensor) -> Tensor:
        ids = torch.cat([before.expand(len(output), -1), output], dim=1)
        return processors(ids, scores.float().clone())

    return rule
