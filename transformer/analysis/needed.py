"""What heads would have to look at for a step to write another token.

Asked for are rows w_h of the query that writes it, for some heads h, with the least sum of
KL(w_h || p_h) to the rows p_h that the model has there, such that the token's logit is the largest.
Where the gap between it and the others has the gradient g_h, such rows are w_h = softmax(log p_h +
mu g_h) with one mu for all: g is taken again at each rows that are found, and mu such that they
are just enough as far as g tells. What is found are edits of rows, and a run with them is what is
reported. In the manner of counterfactual explanations: Wachter et al. 2018, section III.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transformer.analysis.row_pass import Head, RowPass
from transformer.checkpoint import Checkpoint
from transformer.editing.ours import places
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.inputs import InputError, source_ids, target_ids
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.tokenizer import Token

STEPS = 48
"""Times that the gradient is taken."""
HALVINGS = 12
"""Of the way back to the model's own rows."""
MARGIN = 0.01
"""By which the logit is to lie above all others: more than rounding the rows takes away."""
LEAST_SHARE = 0.01
"""Heads with less of the divergence are left as they are, where the others suffice."""
DIGITS = 4
"""Behind the point, of a weight in an edit."""
SHARPEST = 30.0
"""The most by which log weights of a row are drawn apart."""
PACE = 3
"""Steps after which each gradient counts half of what it does at first."""
STILL = 1e-4
"""Weights that change by less from step to step are found."""
SMOOTH = 0.1
"""Logits by which others count that are almost as large as the largest."""


@dataclass(frozen=True)
class Chance:
    """How likely a token is at a step."""

    probability: float
    rank: int
    """1: it is the most probable one."""


@dataclass(frozen=True, eq=False)
class Row:
    """The row of one head, as it is and as it would have to be. Tensors are on the CPU."""

    edit: Edit
    before: Tensor
    """[K] float32; sums to 1, and is 0 where a mask closes."""
    after: Tensor
    """[K], in the run with all edits."""

    @property
    def head(self) -> Head:
        return self.edit.place, self.edit.layer, self.edit.head

    @property
    def divergence(self) -> float:
        """KL(after || before) in nats."""
        before, after = self.before.double(), self.after.double()
        return float(torch.where(after > 0, after * (after / before).log(), 0.0).sum())


@dataclass(frozen=True, eq=False)
class Needed:
    """The smallest change that was found, and what a run with it gives."""

    token: Token
    step: int
    rows: tuple[Row, ...]
    """Of the heads that would look elsewhere; none where nothing is needed or nothing suffices."""
    before: Chance
    after: Chance
    """In the run with the edits; where nothing suffices, as before."""
    gap: float
    """The token's logit less the largest other one: the largest gap found, where it is below 0."""

    @property
    def reached(self) -> bool:
        """Whether a change suffices, by a run with its edits."""
        return self.after.rank == 1

    @property
    def edits(self) -> tuple[Edit, ...]:
        return tuple(row.edit for row in self.rows)

    @property
    def divergence(self) -> float:
        """Of all rows together, in nats."""
        return sum(row.divergence for row in self.rows)


def needed(
    checkpoint: Checkpoint,
    source: str,
    target: str | Sequence[Token],
    step: int,
    token_id: int,
    heads: Sequence[Head] | None = None,
    on_step: Callable[[], object] | None = None,
    edits: Iterable[Edit | str] = (),
) -> Needed:
    """What these heads would have to look at for the step to write this token.

    heads: kind, layer and head of a decoder's; None: all of cross-attention, of a generator all.
    on_step: called before each pass; what it raises ends the search. edits: in force meanwhile.
    Raises InputError, of an edit EditError.
    """
    asked = edits_of(edits)
    chosen = _heads(checkpoint, heads)
    sources = source_ids(checkpoint, source)
    ids = target_ids(checkpoint, target, len(sources)) or []
    if not 0 <= step < len(ids):
        raise InputError(f"There is no step {step}: the target has {len(ids)}, counted from 0.")
    if not 0 <= token_id < checkpoint.config.vocab_size:
        raise InputError(f"{checkpoint.name} has no token {token_id}.")
    token = checkpoint.tokenizer.token(token_id)
    written = (*map(checkpoint.tokenizer.token, ids[:step]), token)

    def run(more: Sequence[Edit] = ()) -> Recording:
        return record(checkpoint, source, written, (*asked, *more))

    plain = run()
    before = _chance(plain.logits[-1], token_id)
    if before.rank == 1:
        return Needed(token, step, (), before, before, _gap(plain.logits[-1], token_id))
    given = RowPass(checkpoint, source, sources, ids[:step], asked)
    search = _Search(given, token_id, on_step)
    log_p = {head: _log_weights(plain, head) for head in chosen}
    attempts = [search.rows(log_p)]
    shares = {head: _divergence(log_p[head], row) for head, row in attempts[0].items()}
    most = [head for head in chosen if shares[head] >= LEAST_SHARE * sum(shares.values())]
    if search.is_enough and len(most) < len(chosen):
        attempts.insert(0, search.rows({head: log_p[head] for head in most}))
    for attempt in attempts:
        forced = [_edit(head, plain, weights) for head, weights in attempt.items()]
        edited = run(forced)
        after = _chance(edited.logits[-1], token_id)
        if after.rank == 1:
            rows = tuple(_row(edit, plain, edited) for edit in forced)
            gap = _gap(edited.logits[-1], token_id)
            return Needed(token, step, rows, before, after, gap)
    return Needed(token, step, (), before, before, search.largest_gap)


class _Search:
    """Rows with the least divergence that make a token the most probable one."""

    def __init__(self, step: RowPass, token_id: int, on_step: Callable[[], object] | None) -> None:
        self._step, self._id, self._on_step = step, token_id, on_step
        self.largest_gap = -torch.inf
        self.is_enough = False

    def rows(self, plain: Mapping[Head, Tensor]) -> dict[Head, Tensor]:
        """plain: log weights [K], -inf where closed -> weights; the last, where none suffice."""
        log_p = pad_sequence([*plain.values()], batch_first=True, padding_value=-torch.inf)
        lengths = {head: len(row) for head, row in plain.items()}
        rows = log_p.exp()  # [N, K]
        best, least, self.is_enough = rows, torch.inf, False
        cut, slopes = 0.0, torch.zeros_like(rows)
        for i in range(STEPS):
            gap, smooth, found = self._slopes(rows, lengths)
            if gap >= MARGIN and _divergence(log_p, rows) < least:
                best, least, self.is_enough = rows, _divergence(log_p, rows), True
            # What gradients at several rows say together, where two other tokens take turns.
            pace = 1 / (1 + i / PACE)
            cut += pace * (smooth - float((found * rows).sum()) - cut)
            slopes = slopes + pace * (found - slopes)
            before, rows = rows, _least(log_p, slopes, 2 * MARGIN - cut)
            if self.is_enough and float((rows - before).abs().max()) < STILL:
                break
        if not self.is_enough:
            best = rows
        low, high = 0.0, 1.0
        for _ in range(HALVINGS * self.is_enough):
            middle = (low + high) / 2
            part = _between(log_p, best, middle)
            with torch.no_grad():
                is_feasible = _gap(self._run(part.float(), lengths), self._id) >= MARGIN
            low, high = (low, middle) if is_feasible else (middle, high)
        best = _between(log_p, best, high)
        return {head: best[i, :length] for i, (head, length) in enumerate(lengths.items())}

    def _slopes(self, rows: Tensor, lengths: Mapping[Head, int]) -> tuple[float, float, Tensor]:
        """The gap, the same to a smooth maximum of the others, and its gradient by weights."""
        with torch.inference_mode(False), torch.enable_grad():
            given = rows.float().requires_grad_()
            logits = self._run(given, lengths)
            others = SMOOTH * (_others(logits, self._id) / SMOOTH).logsumexp(0)
            smooth = logits[self._id] - others
            (slopes,) = torch.autograd.grad(smooth, [given])
        gap = _gap(logits.detach(), self._id)
        self.largest_gap = max(self.largest_gap, gap)
        return gap, float(smooth.detach()), slopes.double()

    def _run(self, rows: Tensor, lengths: Mapping[Head, int]) -> Tensor:
        if self._on_step is not None:
            self._on_step()
        given = {head: rows[i, :length] for i, (head, length) in enumerate(lengths.items())}
        return self._step.logits(given).cpu()


def _between(log_p: Tensor, rows: Tensor, part: float) -> Tensor:
    """From p [N, K] (0) to rows (1), evenly in logarithms."""
    both = (1 - part) * log_p + part * rows.log()
    return both.masked_fill(log_p.isinf(), -torch.inf).softmax(-1)


def _divergence(log_p: Tensor, rows: Tensor) -> float:
    """Sum over rows of KL(row || p) in nats."""
    return float(torch.where(rows > 0, rows * (rows.log() - log_p), 0.0).sum())


def _least(log_p: Tensor, slopes: Tensor, wanted: float) -> Tensor:
    """Rows [N, K] with the least divergence and sum(slopes * rows) as wanted, or the most there is.

    They are softmax(log p + mu slopes), where mu is found by halving.
    """
    is_open = log_p.isfinite()
    largest = slopes.masked_fill(~is_open, -torch.inf).amax(-1)
    smallest = slopes.masked_fill(~is_open, torch.inf).amin(-1)
    low, high = 0.0, SHARPEST / max(float((largest - smallest).max()), 1e-9)
    for _ in range(40):
        middle = (low + high) / 2
        is_much = float(((log_p + middle * slopes).softmax(-1) * slopes).sum()) >= wanted
        low, high = (low, middle) if is_much else (middle, high)
    return (log_p + high * slopes).softmax(-1)


def _heads(checkpoint: Checkpoint, heads: Sequence[Head] | None) -> list[Head]:
    """Those that are asked for. Raises InputError."""
    family, config = checkpoint.family, checkpoint.config
    if not family.decodes:
        raise InputError(f"{checkpoint.name} writes nothing: it has no step to ask about.")
    if family.is_watched:
        raise InputError(
            f"{checkpoint.name} runs as its own code says, where no gradient of attention is "
            "known: open a checkpoint whose model is one of this program's."
        )
    counts: Any = config
    there = {
        (kind, layer, head)
        for kind, layers in places(checkpoint.model, family).items()
        if kind != "encoder_self"
        for layer in range(len(layers))
        for head in range(counts.n_heads)
    }
    if heads is None:
        usual = "cross" if "cross" in family.attentions else "decoder_self"
        return sorted(head for head in there if head[0] == usual)
    wrong = next((head for head in heads if tuple(head) not in there), None)
    if wrong is not None or not heads:
        said = "no head" if wrong is None else f"{wrong[0]} L{wrong[1]} H{wrong[2]}"
        raise InputError(f"Choose heads that a decoding step looks with: {said} is not one.")
    return list(dict.fromkeys((kind, layer, head) for kind, layer, head in heads))


def _log_weights(recording: Recording, head: Head) -> Tensor:
    """Of the row that writes the last token [K]; exact where a weight is too small for float32."""
    kind, layer, number = head
    call = recording.attentions[kind].calls[layer].only(number)
    scores = call.scores()[0, -1].masked_fill(~call.allowed()[0, -1], -torch.inf)
    return scores.double().log_softmax(-1).cpu()


def _edit(head: Head, plain: Recording, weights: Tensor) -> Edit:
    kind, layer, number = head
    query = len(plain.attentions[kind].queries) - 1
    values = tuple(round(float(each), DIGITS) for each in weights)
    return Edit("row-force", kind, (layer, number, query), values)


def _row(edit: Edit, plain: Recording, edited: Recording) -> Row:
    before, after = (
        each.attentions[edit.place].weights(edit.layer, edit.head)[-1] for each in (plain, edited)
    )
    return Row(edit, before, after)


def _chance(logits: Tensor, token_id: int) -> Chance:
    logits = logits.cpu().double()
    return Chance(float(logits.softmax(-1)[token_id]), 1 + int((logits > logits[token_id]).sum()))


def _gap(logits: Tensor, token_id: int) -> float:
    return float(logits[token_id] - _others(logits, token_id).max())


def _others(logits: Tensor, token_id: int) -> Tensor:
    return torch.cat([logits[:token_id], logits[token_id + 1 :]])
