"""A Hugging Face checkpoint's tensors beside what the library's class asks for.

The library itself says what fits: its class is built on the "meta" device, and tensors of the
stored shapes without any values are loaded into it, with all its renamings, conversions and ties.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from transformer.files.tensors import Stored
from transformer.hugging_face.failure import building
from transformer.hugging_face.sizes import check_layers
from transformer.inspection.tensor_statistics import Fit
from transformer.layers.norm import NoFirstValues


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The library's model without values, and which stored tensors it would be made of."""

    model: Any
    fit: Fit
    stored_as: Mapping[str, str]
    """The model's name of a tensor -> the stored one, where one is the other."""

    @property
    def users(self) -> dict[str, list[str]]:
        """Stored name -> the model's names of what it is, more than one where these are tied."""
        result: dict[str, list[str]] = {}
        for name, stored in self.stored_as.items():
            result.setdefault(stored, []).append(name)
        return result

    @property
    def ties(self) -> list[str]:
        """Say what the configuration ties, in sentences."""
        several = {name: each[1:] for name, each in self.users.items() if len(each) > 1}
        return [f"{name} is also {' and '.join(roles)}." for name, roles in several.items()]


def build_skeleton(path: Path, cls: Any, config: Any, stored: Mapping[str, Stored]) -> Skeleton:
    """Build it without reading or allocating a value. Raises CheckpointError.

    cls: the library's. stored: none where nothing is to be compared.
    """
    check_layers(path, config, len(stored))
    with building(path, config):
        with torch.device("meta"), NoFirstValues():
            model = cls(config)
        shapes = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}
        buffers = {name for name, _ in model.named_buffers()}
        renamed, converted = _rename(model, stored)
        loaded = _load(model, stored)
        tied = dict(model.all_tied_weights_keys)
    position = {name: i for i, name in enumerate(shapes)}
    unexpected = {name for name in stored if renamed[name] in loaded.unexpected_keys}
    ignored = {n for n in stored if renamed[n] not in shapes and n not in unexpected}
    misfits = {name: tuple(wanted) for name, _, wanted in loaded.mismatched_keys}
    # One that is tied to what is missing is not missed for itself.
    missing = {n for n in loaded.missing_keys if tied.get(n) not in loaded.missing_keys}
    fit = Fit(
        order=sorted(stored, key=lambda name: position.get(renamed[name], len(position))),
        missing={name: shapes[name] for name in shapes if name in missing},
        unexpected=frozenset(unexpected),
        misfits={n: misfits[renamed[n]] for n in stored if renamed[n] in misfits},
        uncounted=frozenset({n for n in stored if renamed[n] in buffers} | ignored),
        tied={
            target: source for target, source in tied.items() if {target, source} <= stored.keys()
        },
    )
    stored_as = {renamed[name]: name for name in stored if name not in converted | ignored}
    _tie(stored_as, tied)
    return Skeleton(model, fit, stored_as)


def _rename(model: Any, stored: Mapping[str, Stored]) -> tuple[dict[str, str], set[str]]:
    """Stored name -> the model's, as `from_pretrained` has it; and which are parts of a tensor."""
    from transformers.conversion_mapping import get_model_conversion_mapping
    from transformers.core_model_loading import WeightConverter, WeightRenaming, rename_source_key

    mapping = get_model_conversion_mapping(model)
    renamings = [each for each in mapping if isinstance(each, WeightRenaming)]
    converters = [each for each in mapping if isinstance(each, WeightConverter)]
    prefix, state = model.base_model_prefix, model.state_dict()
    names, converted = {}, set()
    for name in stored:
        new, pattern = rename_source_key(name, renamings, converters, prefix, state)
        if new not in state and name in state:  # one that was not to be renamed
            new, pattern = rename_source_key(name, [], [], prefix, state)
        names[name] = new
        if pattern is not None:
            converted.add(name)
    return names, converted


def _load(model: Any, stored: Mapping[str, Stored]) -> Any:
    """Load shapes, and return the library's report: missing, unexpected, mismatched."""
    from transformers.conversion_mapping import get_model_conversion_mapping
    from transformers.core_model_loading import convert_and_load_state_dict_in_model
    from transformers.modeling_utils import LoadStateDictConfig

    mapping: list[Any] = get_model_conversion_mapping(model)
    options = LoadStateDictConfig(
        device_map={"": "meta"}, weight_mapping=mapping, dtype=torch.float32
    )
    empty = {name: torch.empty(each.shape, device="meta") for name, each in stored.items()}
    report, _ = convert_and_load_state_dict_in_model(model, empty, options)
    model.tie_weights(missing_keys=report.missing_keys, recompute_mapping=False)
    model._adjust_missing_and_unexpected_keys(report)
    return report


def _tie(stored_as: dict[str, str], tied: Mapping[str, str]) -> None:
    """Lend each tied name what is stored under the other."""
    for target, source in tied.items():
        if target in stored_as and source not in stored_as:  # saved under the other name
            stored_as[source] = stored_as[target]
        elif source in stored_as and target not in stored_as:
            stored_as[target] = stored_as[source]
