"""The attention weight itself (AIAYN, section 3.2.1)."""

from torch import Tensor

from transformer.analysis.lenses.lens import Lens
from transformer.recording import Recording


def weight(recording: Recording, kind: str, layer: int) -> Tensor:
    """[H, Q, K]; every row sums to 1."""
    return recording.attentions[kind].weights(layer)


LENS = Lens(
    name="weight",
    title="Weight",
    formula=r"A = \mathrm{softmax}(q k^\top \cdot \text{scale} + \text{mask})",
    explain=(
        "How much of its attention a query gives to a key: each row sums to 1, masked cells are 0. "
        "Residual and normalisation are ignored."
    ),
    source="Vaswani et al. 2017, section 3.2.1",
    scale="share",
    compute=weight,
    is_weights=True,
)
