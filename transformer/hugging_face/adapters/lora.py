"""LoRA: a matrix with the product of two narrow ones added.

An adapted matrix is W + s BA (Hu et al. 2022, section 4.1), with s = alpha / r, or alpha / sqrt(r)
(Kalajdzievski 2023).
"""

import re
from collections.abc import Mapping

from torch import Tensor, nn

from transformer.files.foreign_text import clean
from transformer.hugging_face.adapters.dora import LENGTHS, with_lengths
from transformer.hugging_face.adapters.settings import Settings, refusal

PART = re.compile(
    r"(?P<module>.+?)\.(?P<part>lora_A|lora_B|lora_embedding_A|lora_embedding_B|"
    rf"{LENGTHS})(\.default)?(\.weight)?"
)
"""The name of a tensor of an adapted module, within the model's."""


def adapted(weight: Tensor, parts: Mapping[str, Tensor], scale: float, turned: bool) -> Tensor:
    """Return W + s BA with the rows' lengths of DoRA, where there are some.

    weight: [out, in]; turned: [in, out], as Conv1D and embeddings keep it.
    """
    embeds = "lora_embedding_A" in parts
    a, b = (parts[f"lora_embedding_{x}" if embeds else f"lora_{x}"] for x in "AB")
    rows = (weight.mT if turned else weight) + scale * (b @ a)
    lengths = parts.get(LENGTHS)
    if lengths is not None:
        rows = with_lengths(rows, lengths)
    return (rows.mT if turned else rows).contiguous()


def shapes(settings: Settings, place: str, module: nn.Module) -> dict[str, tuple[int, ...]]:
    """Return the parts that an adapted module has, with their shapes. Raises CheckpointError."""
    rank, is_embedding = settings.rank_of(place), isinstance(module, nn.Embedding)
    if not is_embedding and not is_linear(module):
        kind = type(module).__name__
        raise refusal(settings.folder, f"its adapter is of {clean(place)}, a {kind}: not followed")
    n_out, n_in = module.get_parameter("weight").shape
    if is_turned(module):
        n_out, n_in = n_in, n_out
    stem = "lora_embedding_" if is_embedding else "lora_"
    shapes: dict[str, tuple[int, ...]] = {f"{stem}A": (rank, n_in), f"{stem}B": (n_out, rank)}
    if settings.is_dora:
        if is_embedding:
            raise refusal(settings.folder, f"DoRA of an embedding, {clean(place)}, is not followed")
        shapes[LENGTHS] = (n_out,)
    return shapes


def is_turned(module: nn.Module) -> bool:
    """Tell whether a module keeps its matrix as [in, out]."""
    return isinstance(module, nn.Embedding) or type(module).__name__ == "Conv1D"


def is_linear(module: nn.Module) -> bool:
    """Tell whether a module multiplies by a matrix."""
    return isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"
