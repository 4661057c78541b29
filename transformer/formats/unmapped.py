"""A file of weights that cannot run here: its tensors are read all the same, for inspecting."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from transformer.checkpoint import About, CheckpointError, Description
from transformer.files.tensor_files import LoadedTensors
from transformer.files.weights import Misfit, Weights
from transformer.formats.translate import recognise
from transformer.inspection.circuits import NoHeads
from transformer.inspection.tensor_statistics import Contents, Fit
from transformer.models.family import Family
from transformer.tokenizer import Tokenizer

MISSING = (
    "no mapping says which of its tensors is what and how many heads there are "
    "(docs/extending.md); explore shows its module itself (docs/own_model.md)"
)


@dataclass(frozen=True)
class Unknown:
    """In place of a configuration: nothing but the options that were saved with the tensors."""

    options: Mapping[str, Any] = field(default_factory=dict)
    vocab_size: int = 0
    max_len: int = 0
    pad_id: int = 0
    eos_id: int | None = None

    @property
    def eos_ids(self) -> frozenset[int]:
        """The tokens that end a text that is written."""
        return frozenset() if self.eos_id is None else frozenset({self.eos_id})

    def to_dict(self) -> dict[str, Any]:
        return dict(self.options)


def unmapped_contents(file: Path, weights: Weights, why: str) -> Contents:
    """The tensors by their own names, in the order in which they were saved.

    why: what keeps the file from being opened, as the rest of a sentence after its name.
    """
    uncounted: frozenset[str] = frozenset()
    try:
        mapping = recognise(weights)
        title, missing = f"{mapping.title}, which does not open", why
        uncounted = frozenset(getattr(mapping, "tables", ()))
    except Misfit:
        title, missing = "Tensors of code that is not known here", MISSING

    def no_tokenizer() -> Tokenizer:
        raise CheckpointError(f"{file.name}: how a text is split is not known: it cannot run.")

    return Contents(
        Description(About(title, "", ""), Unknown(weights.options), _FAMILY),
        LoadedTensors(weights.tensors, files=[file]),
        Fit(list(weights.tensors), uncounted=uncounted),
        NoHeads(f"No circuits: {file.name} cannot run here, and which tensors are heads is open."),
        no_tokenizer,
        faults={file.name: f"cannot run here: {missing}"},
    )


def _nothing(*_: Any) -> NoReturn:
    raise TypeError("these tensors make no model")


_FAMILY = Family("unknown", "Unknown", _nothing, {}, _nothing, target="none", reads="text")
