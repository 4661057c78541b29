"""The number of a model's positions, read from its own tables, for each of its sides."""

import re
from collections.abc import Iterator
from inspect import signature
from typing import Any

from torch import Tensor, nn

_OF_POSITIONS = re.compile(r"(^|\.)(\w*pos\w*|wpe)$")
_LIMITS = ("max_position_embeddings", "max_seq_len", "max_sequence_length", "seq_length")
"""Its names in configurations, where a model keeps no table."""


def longest(model: Any) -> dict[str, int]:
    """Side ("source", also of a model that reads one text; "target") -> tokens; absent: any number.

    model: of the library, with values or without.
    """
    two = bool(model.config.is_encoder_decoder)
    result: dict[str, int] = {}
    for side, part in (("source", "encoder"), ("target", "decoder")) if two else (("source", ""),):
        rows = [_rows(module) for name, module in _tables(model) if part in name or not part]
        stated = _stated(model.config, part)
        most = min(rows, default=stated)
        if most is not None:
            result[side] = most - (side == "target") * _ahead(model.config)
    return {side: most for side, most in result.items() if most > 0}


def first_position(model: Any) -> int:
    """Return where its class counts the places of a text from by itself: behind that of padding."""
    plain = (it for _, it in _tables(model) if not isinstance(getattr(it, "offset", None), int))
    paddings = [it.padding_idx for it in plain if getattr(it, "padding_idx", None) is not None]
    return max(paddings, default=-1) + 1


def _tables(model: nn.Module) -> Iterator[tuple[str, Any]]:
    """Yield path and table of each embedding of a text's positions."""
    for name, module in model.named_modules():
        if _is_table(name, module) and _reads_words(model, name):
            yield name, module


def _reads_words(model: nn.Module, name: str) -> bool:
    """Tell whether the part around a module is for text: one for pictures counts patches.

    By the class of its configuration, which has a vocabulary: LLaVA's folders state a size for
    the pictures, too.
    """
    while name:
        name = name.rpartition(".")[0]
        config: Any = getattr(model.get_submodule(name), "config", None)
        if hasattr(config, "get_text_config") and config is not model.config:
            cls = type(config.get_text_config())
            return "vocab_size" in {*signature(cls).parameters, *cls.attribute_map}
    return True


def _is_table(name: str, module: nn.Module) -> bool:
    """An embedding of positions, by its name and its rows: not of distances, as T5 has them."""
    weight = getattr(module, "weight", None)
    is_matrix = isinstance(weight, Tensor) and weight.dim() == 2
    return is_matrix and "Embedding" in type(module).__name__ and bool(_OF_POSITIONS.search(name))


def _rows(module: Any) -> int:
    """Rows that positions are counted through: some begin after that of padding, or two later."""
    offset = getattr(module, "offset", None)
    if isinstance(offset, int):
        return int(module.weight.size(0)) - offset
    padding = getattr(module, "padding_idx", None)
    return int(module.weight.size(0)) - (0 if padding is None else padding + 1)


def _stated(config: Any, part: str) -> int | None:
    inner = getattr(config, part, None) if part else None
    for each in (inner, config, config.get_text_config()):
        for name in (f"max_{part}_position_embeddings", *_LIMITS):
            value = getattr(each, name, None)
            if isinstance(value, int) and value > 0:  # XLNet says -1: any
                return value
    return None


def _ahead(config: Any) -> int:
    """Positions beyond its last token that a decoder looks up: ProphetNet's streams do."""
    return int(config.model_type == "prophetnet")
