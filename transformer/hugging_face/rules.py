"""A folder's rules of writing: what is followed of `generation_config.json`.

They are the library's own processors of scores, so that a text is what its `generate` writes.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import CONFIG, CheckpointError
from transformer.files.foreign_text import clean, some_of
from transformer.files.json_file import read_json

GENERATION = "generation_config.json"
NAMED = 8
WITHOUT_EFFECT = frozenset(
    {
        *("transformers_version", "use_cache", "cache_implementation", "cache_config"),
        *("output_attentions", "output_hidden_states", "output_scores", "output_logits"),
        *("return_dict_in_generate", "return_legacy_cache", "disable_compile", "compile_config"),
        *("is_assistant", "num_assistant_tokens", "num_assistant_tokens_schedule"),
        *("assistant_confidence_threshold", "assistant_lookbehind", "target_lookbehind"),
        *("prompt_lookup_num_tokens", "max_matching_ngram_size", "low_memory"),
        "remove_invalid_values",
    }
)
"""They change no token that is written."""


def _is_count(value: Any, vocab_size: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_penalty(value: Any, vocab_size: int) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e6


def _is_id(value: Any, vocab_size: int) -> bool:
    return _is_count(value, vocab_size) and value < vocab_size


def _are_numbers(value: Any, vocab_size: int) -> bool:
    """Ids, be they in the vocabulary or not: some folders say -1 for none."""
    numbers = value if isinstance(value, list) else [value]
    return all(isinstance(each, int) and not isinstance(each, bool) for each in numbers)


def _are_ids(value: Any, vocab_size: int) -> bool:
    return isinstance(value, list) and all(_is_id(each, vocab_size) for each in value)


def _is_one_id(value: Any, vocab_size: int) -> bool:
    ids = value if isinstance(value, list) else [value]
    return len(ids) == 1 and _is_id(ids[0], vocab_size)


def _is_id_or_ids(value: Any, vocab_size: int) -> bool:
    return _is_id(value, vocab_size) or _are_ids(value, vocab_size)


def _are_runs(value: Any, vocab_size: int) -> bool:
    return isinstance(value, list) and all(each and _are_ids(each, vocab_size) for each in value)


IDS: Mapping[str, Callable[[Any, int], bool]] = {
    "pad_token_id": _are_numbers,
    "bos_token_id": _are_numbers,
    "eos_token_id": _are_numbers,
    "decoder_start_token_id": _is_one_id,
}
"""Followed too, as what a target starts and ends with: `SpecialIds`."""
FOLLOWED: Mapping[str, Callable[[Any, int], bool]] = {
    "encoder_repetition_penalty": _is_penalty,
    "repetition_penalty": _is_penalty,
    "no_repeat_ngram_size": _is_count,
    "encoder_no_repeat_ngram_size": _is_count,
    "bad_words_ids": _are_runs,
    "min_length": _is_count,
    "min_new_tokens": _is_count,
    "forced_bos_token_id": _is_one_id,
    "forced_eos_token_id": _is_id_or_ids,
    "suppress_tokens": _are_ids,
    "begin_suppress_tokens": _are_ids,
}
"""Name -> whether a value can be followed, in the order in which `generate` applies them."""
FACTORS = frozenset(
    {
        *("repetition_penalty", "encoder_repetition_penalty", "length_penalty", "temperature"),
        *("num_beams", "num_beam_groups", "num_return_sequences", "top_p"),
    }
)
"""Settings that change nothing where they are 1; of the others that is said by 0."""


def settings_of(path: Path, vocab_size: int) -> tuple[dict[str, Any], list[str]]:
    """Return the settings that are followed, by name, and sentences about those that are not.

    A folder without the file may keep them in its configuration, as older ones do.
    """
    file, settings = GENERATION, read_settings(path / GENERATION)
    notes = []
    if settings is None and (path / GENERATION).is_file():
        notes.append(f"{GENERATION} holds no settings that can be read: it is not followed.")
    if settings is None:
        file, names = CONFIG, generation_settings()
        older = read_settings(path / CONFIG) or {}
        settings = {name: value for name, value in older.items() if name in names}
    if settings.get("min_new_tokens") is not None:  # `generate` goes by that alone, then
        settings = {name: value for name, value in settings.items() if name != "min_length"}
    followed, others, wrong = {}, [], []
    for name, value in settings.items():
        if _is_neutral(name, value):
            continue
        if name in FOLLOWED and FOLLOWED[name](value, vocab_size):
            followed[name] = value
        elif name in FOLLOWED or (name in IDS and not IDS[name](value, vocab_size)):
            wrong.append(f"{name} {clean(value, 30)}")
        elif name not in IDS and name not in WITHOUT_EFFECT and not name.startswith("_"):
            others.append(name if isinstance(value, list | dict) else f"{name} {clean(value, 30)}")
    if wrong:
        notes.append(f"{file} says {some_of(wrong, NAMED)}, which cannot be followed.")
    if others:
        notes.append(f"{file} also says {some_of(others, NAMED)}: not followed; see Decoding.")
    return followed, notes


def _is_neutral(name: str, value: Any) -> bool:
    """Tell whether a setting says what would be done without it: 0 may be an id."""
    if "token" in name and name != "min_new_tokens":
        return value is None or value == []
    if name in FACTORS:
        return value is None or value == 1
    return not value


def rules_for(
    settings: Mapping[str, Any],
    source: Tensor,
    starts: Sequence[int],
    limit: int,
    eos_ids: frozenset[int],
) -> Callable[[Tensor, Tensor], Tensor] | None:
    """Make what changes the scores of each step; None where nothing does.

    source: [1, S], what an encoder reads or what is continued. starts: what a decoder beside an
    encoder is fed first; empty: there is none. limit: how many tokens may be written.
    """
    from transformers.generation import logits_process as library

    theirs: Any = library
    n_before = len(starts) or source.size(1)
    n_begun = 1 if starts else source.size(1)  # `generate` counts a forced token as written
    ends = torch.tensor(sorted(eos_ids), device=source.device)
    bos = settings.get("forced_bos_token_id")
    is_told = bos is not None and source.size(1) == 1 and not starts
    makers: Mapping[str, Callable[[Any], Any]] = {
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
        "suppress_tokens": lambda value: theirs.SuppressTokensLogitsProcessor(value, source.device),
        "begin_suppress_tokens": lambda value: theirs.SuppressTokensAtBeginLogitsProcessor(
            value, n_before + is_told, source.device
        ),
    }
    needs_end = ("min_length", "min_new_tokens")
    left_out = {name for name in needs_end if not eos_ids}
    left_out |= set() if is_told else {"forced_bos_token_id"}
    processors = theirs.LogitsProcessorList(
        makers[name](settings[name]) for name in FOLLOWED if name in settings.keys() - left_out
    )
    if not processors:
        return None
    before = source.new_tensor([starts]) if starts else source

    def rule(output: Tensor, scores: Tensor) -> Tensor:
        ids = torch.cat([before.expand(len(output), -1), output], dim=1)
        return processors(ids, scores.float().clone())

    return rule


def read_settings(file: Path) -> dict[str, Any] | None:
    """Read a file of settings; None where it is not there, or holds no values."""
    try:
        values = read_json(file)
    except CheckpointError:
        return None
    return values if isinstance(values, dict) else None


def generation_settings() -> frozenset[str]:
    """Names of settings for generating, which older folders keep in their configuration."""
    from transformers import GenerationConfig

    usual: Any = GenerationConfig
    return frozenset(usual().to_dict())
