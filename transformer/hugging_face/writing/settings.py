"""A folder's settings for writing: what each of them becomes here, and which are refused."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.checkpoint import CONFIG, CheckpointError
from transformer.files.foreign_file import read_json
from transformer.files.foreign_text import clean, some_of
from transformer.hugging_face.writing.method_defaults import (
    LENGTHS,
    OF_METHODS,
    IsLegal,
    are_biases,
    are_ids,
    are_numbers,
    are_runs,
    is_count,
    is_decay,
    is_flag,
    is_id_or_ids,
    is_one_id,
    is_penalty,
    method_defaults,
)

# A folder's rules of writing: settings that change the scores of a step.
#
# They are the library's own processors of scores, so that a text is what its `generate` writes.

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


# A folder's settings for writing: what each of them becomes here, and which are not followed.

GENERATION = "generation_config.json"
NAMED = 8
IDS: Mapping[str, IsLegal] = {
    "pad_token_id": are_numbers,
    "bos_token_id": are_numbers,
    "eos_token_id": are_numbers,
    "decoder_start_token_id": is_one_id,
}
"""Followed too, as what a target starts and ends with: `SpecialIds`."""
IN_MODEL: Mapping[str, IsLegal] = {**RULES, **LENGTHS}
WITHOUT_EFFECT = frozenset(
    {
        *("transformers_version", "use_cache", "cache_implementation", "cache_config"),
        *("max_cache_len", "continuous_batching_config", "prefill_chunk_size"),
        *("output_attentions", "output_hidden_states", "output_scores", "output_logits"),
        *("return_dict_in_generate", "return_legacy_cache", "disable_compile", "compile_config"),
        *("is_assistant", "num_assistant_tokens", "num_assistant_tokens_schedule"),
        *("assistant_confidence_threshold", "assistant_lookbehind", "target_lookbehind"),
        *("assistant_early_exit", "assistant_ensemble_weight", "speculation_type", "use_mtp"),
        *("prompt_lookup_num_tokens", "max_matching_ngram_size", "low_memory"),
        *("remove_invalid_values", "num_return_sequences"),
    }
)
"""They change no token that is written."""
FACTORS = frozenset(
    {
        *("repetition_penalty", "encoder_repetition_penalty", "guidance_scale", "typical_p"),
        *("num_beams", "num_beam_groups"),
    }
)
"""Settings that change nothing where they are 1; of the others that is said by 0."""


@dataclass(frozen=True)
class Writing:
    """The settings for writing of a folder, as they are followed."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    """Name -> value of those that every method keeps to: rules of scores, and lengths."""
    defaults: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Defaults of methods, as `About.decoding` has them."""
    notes: tuple[str, ...] = ()
    """Sentences about those that are not followed."""


def writing_of(path: Path, vocab_size: int) -> Writing:
    """Read what a folder says; one without the file may keep it in its configuration."""
    file, settings = GENERATION, read_settings(path / GENERATION)
    notes = []
    if settings is None and (path / GENERATION).is_file():
        notes.append(f"{GENERATION} holds no settings that can be read: it is not followed.")
    older = _of_configuration(path)
    if settings is None:
        file, settings = CONFIG, older
    else:
        notes += _overruled(older, settings)
    if settings.get("min_new_tokens") is not None:  # `generate` goes by that alone, then
        settings = {name: value for name, value in settings.items() if name != "min_length"}
    followed, others, wrong = {}, [], []
    for name, value in settings.items():
        if _is_neutral(name, value):
            continue
        is_legal = {**IN_MODEL, **OF_METHODS, **IDS}.get(name)
        if is_legal is not None and is_legal(value, vocab_size):
            followed[name] = value
        elif is_legal is not None:
            wrong.append(f"{name} {clean(value, 30)}")
        elif name not in WITHOUT_EFFECT and not name.startswith("_"):
            others.append(name if isinstance(value, list | dict) else f"{name} {clean(value, 30)}")
    if followed.get("do_sample") and followed.get("num_beams"):
        others.append("do_sample with num_beams")  # beams that are drawn
    if wrong:
        notes.append(f"{file} says {some_of(wrong, NAMED)}, which cannot be followed.")
    if others:
        notes.append(f"{file} also says {some_of(others, NAMED)}: not followed; see Decoding.")
    in_model = {name: value for name, value in followed.items() if name in IN_MODEL}
    return Writing(in_model, method_defaults(followed), tuple(notes))


def _of_configuration(path: Path) -> dict[str, Any]:
    names, values = generation_settings(), read_settings(path / CONFIG) or {}
    return {name: value for name, value in values.items() if name in names}


def _overruled(older: Mapping[str, Any], settings: Mapping[str, Any]) -> list[str]:
    """A sentence about settings of the configuration: `generate` reads none beside the file."""
    names = {**IN_MODEL, **OF_METHODS}.keys() & older.keys()
    left = [
        f"{name} {clean(older[name], 30)}"
        for name in sorted(names)
        if not _is_neutral(name, older[name]) and older[name] != settings.get(name)
    ]
    what = some_of(left, NAMED)
    return [f"{CONFIG} says {what}, which do not hold beside {GENERATION}."] if left else []


def _is_neutral(name: str, value: Any) -> bool:
    """Tell whether a setting says what would be done without it: 0 may be an id."""
    if name in OF_METHODS.keys() - FACTORS:
        return value is None  # its default here may be another than the library's
    if "token" in name and name not in ("min_new_tokens", "token_healing"):
        return value is None or value == []
    if name in FACTORS:
        return value is None or value == 1
    return not value


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
