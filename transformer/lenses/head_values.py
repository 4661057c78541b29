"""What each head would add to the residual stream for a weight of 1."""

from torch import Tensor

from transformer.recording import AttentionCall


def head_values(call: AttentionCall, head: int, keys: slice = slice(None)) -> Tensor:
    """v_j W_O of one head, for some keys: [K, D] in float32 on the CPU.

    v_j itself where nothing projects it. v_j has the bias of the value projection already; the
    bias of W_O belongs to no head.
    """
    values, output = call.v[head, keys].float().cpu(), call.output
    return values if output is None else values @ output[head].float().cpu()
