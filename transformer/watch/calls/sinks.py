"""Sinks: keys that the softmax counts beside those of a text, and no value is given for.

They are found as code has them: a column beside the scores, which is dropped after the softmax, or
a term in the denominator of one that is written out.
"""

from collections.abc import Sequence
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from transformer.watch.capture.operators import ADDITIONS, FILLING, KEEPING, OVER, TIMES
from transformer.watch.capture.tensors import tensors_in

SINK = "sink"
"""The name of such a key."""

# A column beside the scores.


def n_before(scores: Tensor, func: Any, args: Sequence[Any]) -> int:
    """Count the columns that a function puts before those of scores."""
    if func is F.pad:
        return int(args[1][0])
    parts = list(tensors_in(args))
    at = next(i for i, each in enumerate(parts) if each is scores)
    return sum(each.size(-1) for each in parts[:at])


def dropped(weights: Tensor, result: Tensor) -> tuple[slice, slice] | None:
    """Find the columns that are left of weights in a result, and the one that was dropped.

    None where it is not the weights [..., K] without their first or their last column.
    """
    n_keys = weights.size(-1) - 1
    if result.dim() != weights.dim() or result.shape != (*weights.shape[:-1], n_keys):
        return None
    for rest, own in ((slice(1, None), slice(1)), (slice(n_keys), slice(n_keys, None))):
        if torch.equal(weights[..., rest], result):
            return rest, own
    return None


# A term in a denominator.

Form = Literal["scores", "shifted", "exponentials", "shifted exponentials", "shares", "other"]
"""The part of a softmax, written out, that a product has become: scores less a number a row, their
exponentials, and these over a number a row."""


def formed(form: Form, scores: Tensor, func: Any, args: Sequence[Any]) -> Form:
    """The form of scores after one more function; keys are their last axis."""
    others = [each for each in tensors_in(args) if each is not scores]
    is_by_rows = (
        len(others) == 1 and args[0] is scores and others[0].dim() > 1 and others[0].size(-1) == 1
    )
    if form in ("scores", "shifted"):
        if func in _EXPONENTIALS:
            return "exponentials" if form == "scores" else "shifted exponentials"
        is_less = is_by_rows and ADDITIONS.get(func, 1.0) < 0
        return "shifted" if is_less or (form == "shifted" and func in KEEPING) else "scores"
    if is_by_rows and form != "shares" and func in TIMES | OVER:
        return "shares"
    is_kept = func in KEEPING and not (form == "shares" and func in FILLING)
    return form if is_kept else "other"


_EXPONENTIALS = frozenset({torch.exp, Tensor.exp, Tensor.exp_, torch.exp_})


def rest_of(form: Form, weights: Tensor) -> Tensor | None:
    """The share of what stands in the denominator beside the exponentials, as one more does.

    Of the shape of weights; None where nothing does, or where these are no exponentials of scores
    over one number a row.
    """
    if form not in ("shares", "shifted exponentials"):
        return None
    rest = 1 - weights.detach().float().sum(-1, keepdim=True)
    rough = 2e-5 if weights.dtype in (torch.float32, torch.float64) else 2e-2
    if not -rough <= float(rest.amin()) or not float(rest.amax()) > rough:
        return None
    return rest.clamp_min(0).to(weights.dtype).expand_as(weights)
