"""Sentences about what lies in a folder and takes no part in the model, or is read otherwise
here.
"""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from transformer.checkpoint import CONFIG, CheckpointError
from transformer.files.foreign_file import read_file, read_json
from transformer.files.foreign_text import clean, some_of
from transformer.files.regular_file import files_of
from transformer.hugging_face.adapters.settings import ADAPTER, adapted_path
from transformer.hugging_face.chat.chatting import SETTINGS, template_notes
from transformer.hugging_face.choice import SCHEMES, scheme_of, unread_poolers
from transformer.hugging_face.failure import has_vocabulary
from transformer.hugging_face.kinds import DECODER, writes
from transformer.hugging_face.loading import NO_MODEL, OTHER_NAMES, WHOLE, is_indexed, is_usual
from transformer.hugging_face.model import PROBE, reads_pairs, tells_segments
from transformer.hugging_face.pooling import pipeline_of, pooling_notes
from transformer.hugging_face.sizes import first_position
from transformer.hugging_face.skeleton import Skeleton
from transformer.hugging_face.tokenizer import HuggingFaceTokenizer
from transformer.hugging_face.writing.settings import generation_settings
from transformer.models.family import Family
from transformer.tokenizer import Tokenizer, TokenizerError
from transformer.vocabulary import unread as unread_vocabulary

# Sentences about what lies in a folder and takes no part in the model that is opened.

NAMED = 4
CODE = "auto_map"
WITHOUT_EFFECT = frozenset(
    {
        *("_name_or_path", "name_or_path", "architectures", "model_type", "transformers_version"),
        *("torch_dtype", "dtype", "use_cache", "gradient_checkpointing", "output_past", "prefix"),
        *("task_specific_params", "finetuning_task", "_num_labels", "num_labels", "id2label"),
        *("label2id", "problem_type", "quantization_config", "auto_map", "pruned_heads"),
        *("transformers.js_config", "attn_implementation", "_attn_implementation", "model_name"),
        *("_attn_implementation_autoset", "attn_implementation_autoset", "return_dict"),
        *("_commit_hash", "is_composition", "tokenizer_class", "unsloth_version", "unsloth_fixed"),
        *(
            "torchscript",
            "output_attentions",
            "output_hidden_states",
            "use_bfloat16",
            "summary_type",
        ),
        *("bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "decoder_start_token_id"),
        *("static_position_embeddings", "normalize_before", "normalize_embedding", "n_ctx"),
        *("extra_pos_embeddings", "add_bias_logits", "add_final_layer_norm", "classif_dropout"),
    }
)
"""Settings of a configuration that no number depends on, or that are told elsewhere."""
ROPE = ("rope_scaling", "rope_theta", "partial_rotary_factor", "original_max_position_embeddings")
"""Read by what all configurations share."""
OF_OTHER_ROPE = frozenset(
    {
        *("factor", "low_freq_factor", "high_freq_factor", "short_factor", "long_factor"),
        *("beta_fast", "beta_slow", "attention_factor", "mscale", "mscale_all_dim"),
    }
)
"""Settings of rotary positions that some rope_type other than the default one reads."""
HARMLESS = {"position_embedding_type": "absolute", "force_bos_token_to_be_generated": False}
"""Settings of older configurations that leave no choice any more."""


def notes_on(path: Path, config: Any, skeleton: Skeleton, read_from: Iterable[str]) -> list[str]:
    """A sentence each. read_from: the names of the files that the weights are read from."""
    return [
        *_tensors(skeleton),
        *_settings(path, config, skeleton.model),
        *_files(path, config, set(read_from)),
        *pooling_notes(path, config, writes(skeleton.model)),
        *template_notes(path),
    ]


def _tensors(skeleton: Skeleton) -> Iterator[str]:
    unused, missing = sorted(skeleton.fit.unexpected), unread_poolers(skeleton)
    if unused:
        name = type(skeleton.model).__name__
        yield f"{_these(unused)} not used: {name} has no place for {_it(unused)}."
    if missing:
        yield f"{_these(missing)} not there, and nothing shown here depends on {_it(missing)}."


def _settings(path: Path, config: Any, model: Any) -> Iterator[str]:
    try:
        settings = read_json(path / CONFIG)
    except CheckpointError:
        return
    if settings.get(CODE):
        yield f"{CONFIG} names code of its own ({CODE}): the library's class is used, not that."
    meanings = _meanings(config) | generation_settings()
    others = [name for name in sorted(settings.keys() - meanings) if _acts(name, settings[name])]
    unknown = [name for name in others if not _is_in_code(name, model)]
    if unknown:
        name = type(config).__name__
        yield f"{CONFIG} says {some_of(unknown, NAMED)}, not followed: {name} has no such setting."
    yield from _said_twice(settings, config)
    if writes(model) and (prefixes := _prefixes(settings)):
        yield (
            f"{CONFIG} says {some_of(prefixes, 2)}, which the library's pipelines put before a "
            "text: here it has to be typed."
        )
    yield from _unread_rope(config)
    if getattr(config, "quantization_config", None):
        by = scheme_of(path, config)
        yield f"{CONFIG} says that it is quantised by {by}, and its weights are not: they are used."


def _prefixes(settings: Mapping[str, Any]) -> list[str]:
    """Words before a text, for all of them or for a task, as T5's translate English to German."""
    tasks = settings.get("task_specific_params")
    every = [settings, *(tasks.values() if isinstance(tasks, dict) else ())]
    words = (each.get("prefix") for each in every if isinstance(each, dict))
    return [repr(clean(each, 40)) for each in words if isinstance(each, str) and each.strip()]


def _said_twice(settings: Mapping[str, Any], config: Any) -> Iterator[str]:
    """A sentence for each setting that stands under two names of its class, with two values."""
    for other, name in type(config).attribute_map.items():
        if {other, name} <= settings.keys() and settings[other] != settings[name]:
            values = (clean(settings[each], 30) for each in (name, other))
            both = " and ".join(
                f"{each} {value}" for each, value in zip((name, other), values, strict=True)
            )
            yield f"{CONFIG} says {both}, which are one setting: {getattr(config, name)} is used."


def _unread_rope(config: Any) -> Iterator[str]:
    """A sentence where rotary positions are of the usual kind, and numbers of another one stand by.

    A configuration may keep them by the kind of a layer.
    """
    own = getattr(config, "rope_parameters", None)
    own = own if isinstance(own, dict) else {}
    for each in (own, *(value for value in own.values() if isinstance(value, dict))):
        others = sorted(OF_OTHER_ROPE & each.keys())
        if each.get("rope_type", "default") == "default" and others:
            yield (
                f"{CONFIG} says {some_of(others, NAMED)} of its rotary positions, not followed: "
                "rope_type is the default one."
            )


def _acts(name: str, value: Any) -> bool:
    """Tell whether such a setting would change what is computed, followed or not."""
    return name not in WITHOUT_EFFECT and bool(value) and HARMLESS.get(name, object()) != value


def _meanings(config: Any) -> frozenset[str]:
    """The names that a class of configurations has a meaning for."""
    try:
        usual = type(config)()
    except Exception:  # some need others within them
        return frozenset(config.to_dict())
    names = {*usual.to_dict(), *vars(usual), *type(config).attribute_map}
    return frozenset({*names, *type(config).sub_configs, *ROPE})


def _is_in_code(name: str, model: Any) -> bool:
    """Tell whether a class reads a setting that its configuration has no default for."""
    places = (type(model), type(model.config))
    return any(re.search(rf"\b{re.escape(name)}\b", _code(each.__module__)) for each in places)


@cache
def _code(module: str) -> str:
    return inspect.getsource(sys.modules[module])


def _files(path: Path, config: Any, read_from: set[str]) -> Iterator[str]:
    if (path / ADAPTER).is_file():
        both = adapted_path(Path(path.name), Path(path.name))
        yield f"{ADAPTER} lies beside the weights: the adapter is not applied; {both} opens both."
    others = {file.name for file in files_of(path, OTHER_NAMES)} - read_from
    unread = sorted(name for name in others if not name.startswith(NO_MODEL))
    if not is_indexed(path) and not all(map(is_usual, read_from)):
        yield f"{WHOLE} is not there: the weights are those of {some_of(sorted(read_from), 1)}."
    if unread:
        weights = some_of(sorted(read_from), 1)
        yield f"{_these(unread)} not read: the weights are those of {weights}."
    if not has_vocabulary(path):
        if sentence := unread_vocabulary(path):
            yield sentence
        elif (path / SETTINGS).is_file():
            yield f"{SETTINGS} is there, and no vocabulary: texts are ids of tokens."
    schemes = [name for name in SCHEMES if (path / name).is_file()]
    if schemes and not getattr(config, "quantization_config", None):
        yield f"{schemes[0]} lies beside weights that are not quantised: it is not followed."


def _these(names: list[str]) -> str:
    return f"{some_of(names, NAMED)} {'is' if len(names) == 1 else 'are'}"


def _it(names: list[str]) -> str:
    return "it" if len(names) == 1 else "them"


# Sentences about what a model reads otherwise here than where it was trained, or at each step.

_SEGMENTS = re.compile(r"(token_type|segment|seg_embed)")
"""Parts of the names of what a model adds for segments."""
_BY_LENGTH = ("prophetnet", "xlm-prophetnet")
"""Types of model whose rows depend on how many there are: of their streams that predict."""


def reading_notes(model: Any, family: Family, tokenizer: Tokenizer) -> Iterator[str]:
    """Yield a sentence each. model: of the library, with values or without."""
    is_one_segment = not _has_segments(model) or tells_segments(family, tokenizer)
    if reads_pairs(family, tokenizer) and not is_one_segment:
        yield (
            "Its tokenizer gives the second text of a pair no segment of its own (token_type_ids), "
            "and the model has several: both texts are read as one segment."
        )
    if family is DECODER and isinstance(tokenizer, HuggingFaceTokenizer):
        yield from _of_prompts(model, tokenizer)
    first = first_position(model)
    if family is DECODER and first:
        yield (
            f"By itself its class counts positions from {first} (padding_idx + 1), as in training; "
            "here they are counted from 0, as the library's `generate` has them."
        )
    if family.decodes and model.config.model_type in _BY_LENGTH:
        yield (
            "A row of its decoder depends on how many rows there are: what is recorded of a whole "
            "text differs from what its steps saw, as it does in the library."
        )


def _of_prompts(model: Any, tokenizer: HuggingFaceTokenizer) -> Iterator[str]:
    """A sentence where `generate` reads something else for the same prompt."""
    try:
        behind = tokenizer.behind_prompt(PROBE)
    except TokenizerError:  # of a damaged one, which is said once it is to read a text
        return
    if behind:
        yield (
            f"Its tokenizer puts {' '.join(behind)} behind each text: a prompt is read without it, "
            "so that the text goes on; the library's `generate` goes on behind it."
        )
    takes = "token_type_ids" in inspect.signature(type(model).forward).parameters
    if takes and tokenizer.gives_segments and not _SEGMENTS.search(_names(model)):
        yield (
            "Its tokenizer gives segments (token_type_ids), which its class adds to what it reads: "
            "here there are none, as in `generate` over nothing but ids."
        )


def _names(model: Any) -> str:
    return " ".join(name for name, _ in model.named_parameters())


def _has_segments(model: Any) -> bool:
    """Tell whether it has more than one, by names and sizes of its parameters."""
    named = model.named_parameters()
    return any(_SEGMENTS.search(name) and len(each) > 1 for name, each in named if each.dim() > 1)


# The name that a folder has for itself: on its card, or in its configuration.

CARD = "README.md"
LARGEST = 2**20
"""Bytes of a card that is looked through for its heading."""
LONGEST = 80
"""Characters of a name at most: a longer heading is a sentence."""
_USUAL = re.compile(
    r"(my_?|best_?|final_?|the_?)?(model|models|checkpoint|output|outputs|out|save[d]?|export|best|"
    r"final|last|latest|snapshot|0_transformer)([-_. ]?\d+)?|[0-9a-f]{7,40}|step[-_]?\d+|\d+",
    re.IGNORECASE,
)
_TEMPLATE = ("{", "model card", "model id", "<", "[", "readme", "about", "introduction", "usage")
_CACHED = re.compile(r"models--(?:[^/]+?--)?(?P<name>[^/]+)")


def own_name(path: Path) -> str:
    """Name a folder whose own name says nothing: "model", a number, a commit; else "".

    By the hub's cache that it lies in, its card's heading, or what its configuration says that it
    was loaded from.
    """
    pipeline = pipeline_of(path)
    if pipeline != path:
        return own_name(pipeline) or pipeline.name
    if not _USUAL.fullmatch(path.name):
        return ""
    return _of_cache(path) or _of_card(path) or _of_config(path)


def _of_cache(path: Path) -> str:
    """The repository of a folder that the hub's library fetched: models--org--name/snapshots/…"""
    match = _CACHED.fullmatch(path.parent.parent.name)
    return _fit(match["name"]) if match and path.parent.name == "snapshots" else ""


def _of_card(path: Path) -> str:
    """The first heading outside the settings above a card and its blocks of code."""
    try:
        text = read_file(path / CARD, LARGEST).decode("utf-8", "replace")
    except CheckpointError:
        return ""
    prose = re.sub(r"\A---\n.*?\n---\n|^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    heading = re.search(r"^# +(.+)$", prose, re.MULTILINE)
    name = _fit(heading[1]) if heading else ""
    return "" if name.lower().startswith(_TEMPLATE) else name


def _of_config(path: Path) -> str:
    """The library's own configuration holds the folder's path instead."""
    try:
        name = read_json(path / CONFIG).get("_name_or_path")
    except (CheckpointError, AttributeError):
        return ""
    last = _fit(re.split(r"[/\\]", name.rstrip("/\\"))[-1]) if isinstance(name, str) else ""
    return "" if _USUAL.fullmatch(last) else last


def _fit(text: str) -> str:
    name = clean(re.sub(r"[`*]|\[|\]\([^)]*\)", "", text)).strip()
    last = name.rpartition("/")[2] if " " not in name else name  # organisation/model
    return last if len(last) <= LONGEST else ""
