"""State dicts of code whose models Hugging Face's library has a class for: Llama's, GPT-NeoX's."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from transformer.checkpoint import Checkpoint, Description
from transformer.files.tensor_files import Later, LoadedTensors
from transformer.files.weights import Misfit, Tensors, Weights
from transformer.formats.mappings.mapping import LibraryMapping
from transformer.formats.translate import (
    as_floats,
    renamed,
    require_all,
    require_shapes,
    their_name,
    whole,
)
from transformer.formats.vocabulary_files import find_vocabulary, make_tokenizer
from transformer.hugging_face.choice import choose
from transformer.hugging_face.description import described
from transformer.hugging_face.heads import HuggingFaceHeads
from transformer.hugging_face.loading import entrance, placed
from transformer.hugging_face.model import HuggingFaceModel
from transformer.hugging_face.opening import build_model, config_of
from transformer.hugging_face.skeleton import Skeleton
from transformer.inspection.tensor_statistics import Contents
from transformer.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class InLibrary:
    """A model of the library's that computes what theirs did."""

    description: Description
    given: Any
    """The library's configuration."""
    tensors: Tensors
    theirs: Mapping[str, str]
    """The library's name of a tensor -> theirs."""
    skeleton: Skeleton
    tokenizer: Tokenizer

    def load(self, path: Path, device: torch.device) -> Checkpoint:
        """Ready to run. path: of the checkpoint. Raises CheckpointError and Misfit."""
        description, config = self.description, self.description.config
        stored = LoadedTensors(self.tensors).stored
        placement = placed(path.name, self.skeleton.model, stored, device)
        weights = {
            name: Later(partial(as_floats, tensor, self.theirs[name]))
            for name, tensor in self.tensors.items()
        }
        inner = build_model(path, self.given, type(self.skeleton.model), weights, placement)
        model = HuggingFaceModel(inner, config)  # type: ignore[arg-type]
        about = replace(description.about, notes=(*description.about.notes, *placement.notes))
        return Checkpoint(
            path, about, config, description.family, model, self.tokenizer, entrance(inner, device)
        )

    def contents(self, file: Path) -> Contents:
        """Its tensors under the library's names. file: that they are in."""
        tensors, skeleton = LoadedTensors(self.tensors, files=[file]), self.skeleton
        heads = HuggingFaceHeads(tensors, skeleton, list(self.description.family.attentions))
        description, tokenizer = self.description, self.tokenizer
        return Contents(description, tensors, skeleton.fit, heads, lambda: tokenizer, skeleton.ties)


def open_in_library(mapping: LibraryMapping, weights: Weights, folder: Path) -> InLibrary:
    """The tensors under the library's names. Raises CheckpointError and Misfit."""
    unread = sorted(set(weights.choices) - {"n_heads", "pad_id", "bos_id", "eos_id"})
    if unread:
        raise Misfit(f"needs no {unread[0]} beside it: its own settings say it")
    vocabulary = find_vocabulary(folder, weights, mapping)
    named = vocabulary.special_ids(mapping.named_ids)
    weights = replace(weights, choices=named | dict(weights.choices))
    with whole():
        weights = mapping.prepare(weights)
        values = mapping.configure(weights)
    config = config_of(folder, values)
    ours, unexpected = renamed(weights, mapping.names, mapping)
    tensors = {name: tensor for name, (tensor, _) in ours.items()}
    theirs = {name: called for name, (_, called) in ours.items()}
    skeleton, _ = choose(folder, config, LoadedTensors(tensors).stored)
    fit = skeleton.fit
    missing = [their_name(name, mapping.names, mapping.first_layer) for name in fit.missing]
    require_all([*unexpected, *(theirs[name] for name in sorted(fit.unexpected))], missing)
    require_shapes(fit, tensors, theirs)
    size = config.vocab_size
    sizes = {"source": size, "target": size}
    tokenizer = make_tokenizer(vocabulary, mapping, sizes, config.bos_token_id, config.eos_token_id)
    notes = (*weights.notes, *mapping.notes(weights), *vocabulary.notes())
    description = described(folder, skeleton.model, tokenizer, notes)
    n_layers, n_heads = config.num_hidden_layers, config.num_attention_heads
    plural = "s" if n_layers > 1 else ""
    title = f"{mapping.title}, {n_layers} layer{plural} of {n_heads} heads"
    about = replace(description.about, title=title, recipe=mapping.name)
    return InLibrary(
        replace(description, about=about), config, tensors, theirs, skeleton, tokenizer
    )
