"""DoRA: the rows of an adapted matrix have lengths of their own (Liu et al. 2024)."""

from torch import Tensor

LENGTHS = "lora_magnitude_vector"


def with_lengths(rows: Tensor, lengths: Tensor) -> Tensor:
    """Return the rows [out, in] with these lengths, [out] or [out, 1]."""
    return rows * (lengths.flatten() / rows.norm(dim=1))[:, None]


def lengths_fit(part: str, shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Tell whether a tensor holds the lengths as a column, as peft has saved them, too."""
    return part == LENGTHS and shape == (*wanted, 1)
