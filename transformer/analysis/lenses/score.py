"""The score before mask and softmax (AIAYN, section 3.2.1)."""

from torch import Tensor

from transformer.analysis.lenses.lens import Lens
from transformer.recording import Recording


def score(recording: Recording, kind: str, layer: int) -> Tensor:
    """[H, Q, K]; 0 where a mask forbids the cell."""
    call = recording.attentions[kind].calls[layer]
    return call.scores().masked_fill(~call.allowed(), 0.0).cpu()


def _why_not(recording: Recording, kind: str) -> str | None:
    if not all(call.knows_scores for call in recording.attentions[kind].calls):
        return "This model computes attention by hand: its weights are known, its scores are not."
    return None


LENS = Lens(
    name="score",
    title="Score",
    formula=r"S = q k^\top \cdot \text{scale}",
    explain=(
        "How well a key fits its query, before the softmax: positive or negative, in nats; "
        "comparable only within a row. Includes the model's own scale and position bias "
        "(relative, ALiBi). Residual and normalisation are ignored; the mask is not applied yet, "
        "but the cells that it closes show 0."
    ),
    source="Vaswani et al. 2017, section 3.2.1",
    scale="signed",
    compute=score,
    merge="max",
    why_not=_why_not,
)
