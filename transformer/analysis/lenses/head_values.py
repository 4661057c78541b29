"""The vectors that each head would add to the residual stream for a weight of 1."""

from torch import Tensor

from transformer.recording import AttentionCall, Recording


def head_values(call: AttentionCall, head: int, keys: slice = slice(None)) -> Tensor:
    """v_j W_O of one head, for some keys: [K, D] in float32 on the CPU.

    v_j itself if there is no projection. v_j has the bias of the value projection already; the
    bias of W_O belongs to no head.
    """
    one = call.only(head)
    values, output = one.v[0, keys].float().cpu(), one.output
    return values if output is None else values @ output[0].float().cpu()


def why_no_values(recording: Recording, kind: str) -> str | None:
    """The `why_not` of lenses that need v and W_O of every layer."""
    calls = recording.attentions[kind].calls
    if not all(call.v.size(-1) for call in calls):
        return "The values were not recorded: this model computes its attention by hand."
    if not all(call.has_output for call in calls):
        return "What projects the heads was not found in this model, so what they add is unknown."
    return None
