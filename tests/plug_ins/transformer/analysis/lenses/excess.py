"""How much more than an even share a key gets."""

from torch import Tensor

from transformer.analysis.lenses.lens import Lens
from transformer.recording import Recording


def excess(recording: Recording, kind: str, layer: int) -> Tensor:
    """A_ij - 1 / (keys that the query may attend to): [H, Q, K]; rows sum to 0."""
    attention = recording.attentions[kind]
    allowed = attention.allowed(layer)
    even = allowed / allowed.sum(-1, keepdim=True).clamp_min(1)
    return attention.weights(layer) - even


LENS = Lens(
    name="excess",
    title="Above even",
    formula=r"A - \frac{1}{n}",
    explain=(
        "The weight beyond an even share of the n keys that are not masked; masked cells are 0. "
        "Residual and normalisation play no part."
    ),
    scale="signed",
    compute=excess,
    source="after Vaswani et al. 2017, section 3.2.1",
)
