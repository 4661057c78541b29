"""The rows that heads would need for a step to write another token."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from transformer.checkpoint import Checkpoint
from transformer.editing.checking import read_words
from transformer.editing.editor import within
from transformer.editing.ours import Editing, editing, places
from transformer.editing.references import references
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.inputs import InputError, target_ids
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.token import Token

# One decoding step whose rows of attention are given, through which gradients flow back to them.
#
# The shared model is only run: gradients are asked of the rows alone, and nothing is kept in it.

Head = tuple[str, int, int]
"""Kind, layer and head."""


class RowPass:
    """A source, what is written before a step, and the logits of that step for any rows."""

    def __init__(
        self,
        checkpoint: Checkpoint,
        source: str,
        sources: Sequence[int],
        output: Sequence[int],
        edits: Sequence[Edit] = (),
    ) -> None:
        """edits: in force in every pass. What was read before the step is read once, here."""
        self._checkpoint, self._edits = checkpoint, edits
        self._given = references(checkpoint, source, sources, edits)
        forced = checkpoint.family.forced_pass(checkpoint.config, sources, [*output, 0])
        self._sides = tuple(forced.embedded)
        model: Any = checkpoint.model
        ids = torch.tensor([sources], device=checkpoint.device)
        read = torch.cat([model.first(ids), ids.new_tensor([output], dtype=ids.dtype)], 1)
        self._last = read[:, -1:]
        at_work = Editing(edits, self._sides, references=self._given)
        with torch.no_grad(), editing(model, checkpoint.family, at_work):
            self._state = model.start(ids)
            if read.size(1) > 1:
                model.read(self._state, read[:, :-1])

    def logits(self, rows: Mapping[Head, Tensor]) -> Tensor:
        """[V] in float32, where these heads look so: weights [K] of the step's own query."""
        state = self._state
        state = replace(state, caches=[replace(cache) for cache in state.caches])
        editor = _Given(rows, self._edits, self._sides[-1:], references=self._given)
        model: Any = self._checkpoint.model
        with editing(model, self._checkpoint.family, editor):
            logits: Tensor = model.advance(state, self._last)[0, -1].float()
        return logits


class _Given(Editing):
    """The rows of some heads in one step; edits act before, and on what these heads give."""

    def __init__(self, rows: Mapping[Head, Tensor], *others: Any, **named: Any) -> None:
        super().__init__(*others, **named)
        self._forced = rows

    def attended(
        self, kind: str, layer: int, scale: float, heads: Tensor, *call: Any
    ) -> Tensor | None:
        """In a copy: what attention gave is needed for gradients as it was."""
        heads = heads.clone()
        super().attended(kind, layer, scale, heads, *call)
        v: Tensor = call[2]
        first = 0 if kind == "encoder_self" else self._n_before
        for (of, at, head), weights in self._forced.items():
            if (of, at) == (kind, layer):
                z = (weights.to(v.device) @ v[0, head].float())[None].to(heads.dtype)
                self._all.reheaded(kind, layer, head, z, first)
                heads[0, head] = z
        return heads


# Rows of attention with the least divergence from the model's own that make a token the top one.
#
# Where the gap between its logit and the others has the gradient g_h in the weights of head h,
# they are w_h = softmax(log p_h + mu g_h), with one mu for all heads.

STEPS = 48
"""Times that the gradient is taken."""
HALVINGS = 12
"""The halvings of the way back to the model's own rows."""
MARGIN = 0.01
"""The least lead of the logit over all others: more than rounding the rows takes away."""
SHARPEST = 30.0
"""The most by which log weights of a row are drawn apart."""
PACE = 3
"""Steps after which each gradient counts half of what it does at first."""
STILL = 1e-4
"""Weights that change by less from step to step are found."""
SMOOTH = 0.1
"""Logits by which others count that are almost as large as the largest."""


class RowSearch:
    """Rows with the least divergence that make a token the most probable one."""

    def __init__(
        self,
        step: RowPass,
        token_id: int,
        on_step: Callable[[], object] | None,
        margin: float = MARGIN,
    ) -> None:
        """margin: the lead over all other tokens that is asked for, in logits."""
        self._step, self._id, self._on_step, self._margin = step, token_id, on_step, margin
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
            gap, smooth, slope = self._slopes(rows, lengths)
            if gap >= self._margin and divergence(log_p, rows) < least:
                best, least, self.is_enough = rows, divergence(log_p, rows), True
            # What gradients at several rows say together, where two other tokens take turns.
            pace = 1 / (1 + i / PACE)
            cut += pace * (smooth - float((slope * rows).sum()) - cut)
            slopes = slopes + pace * (slope - slopes)
            before, rows = rows, _least(log_p, slopes, self._margin + MARGIN - cut)
            if self.is_enough and float((rows - before).abs().max()) < STILL:
                break
        if not self.is_enough:
            best = rows
        low, high = 0.0, 1.0
        for _ in range(HALVINGS * self.is_enough):
            middle = (low + high) / 2
            part = _between(log_p, best, middle)
            with torch.no_grad():
                is_feasible = gap_of(self._run(part.float(), lengths), self._id) >= self._margin
            low, high = (low, middle) if is_feasible else (middle, high)
        best = _between(log_p, best, high)
        return {head: best[i, :length] for i, (head, length) in enumerate(lengths.items())}

    def _slopes(self, rows: Tensor, lengths: Mapping[Head, int]) -> tuple[float, float, Tensor]:
        """The gap, the same to a smooth maximum of the others, and its gradient by weights."""
        with torch.inference_mode(False), torch.enable_grad():
            leaf = rows.float().requires_grad_()
            logits = self._run(leaf, lengths)
            others = SMOOTH * (_others(logits, self._id) / SMOOTH).logsumexp(0)
            smooth = logits[self._id] - others
            (slopes,) = torch.autograd.grad(smooth, [leaf])
        gap = gap_of(logits.detach(), self._id)
        self.largest_gap = max(self.largest_gap, gap)
        return gap, float(smooth.detach()), slopes.double()

    def _run(self, rows: Tensor, lengths: Mapping[Head, int]) -> Tensor:
        if self._on_step is not None:
            self._on_step()
        forced = {head: rows[i, :length] for i, (head, length) in enumerate(lengths.items())}
        return self._step.logits(forced).cpu()


def _between(log_p: Tensor, rows: Tensor, part: float) -> Tensor:
    """From p [N, K] (0) to rows (1), evenly in logarithms."""
    both = (1 - part) * log_p + part * rows.log()
    return both.masked_fill(log_p.isinf(), -torch.inf).softmax(-1)


def divergence(log_p: Tensor, rows: Tensor) -> float:
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


def gap_of(logits: Tensor, token_id: int) -> float:
    """The token's logit less the largest other one. logits: [V]."""
    return float(logits[token_id] - _others(logits, token_id).max())


def _others(logits: Tensor, token_id: int) -> Tensor:
    return torch.cat([logits[:token_id], logits[token_id + 1 :]])


# The rows that heads would need for a step to write another token.
#
# Asked for are rows w_h of the query that writes it, for some heads h, with the least sum of
# KL(w_h || p_h) to the rows p_h that the model has there, such that the token's logit is the
# largest. Where the gap between it and the others has the gradient g_h, such rows are w_h =
# softmax(log p_h + mu g_h) with one mu for all: g is taken again at each rows that are found, and
# mu such that they are just enough as far as g tells. What is found are edits of rows, and a run
# with them is what is reported. In the manner of counterfactual explanations: Wachter et al.
# 2018, section III.

LEAST_SHARE = 0.01
"""Heads with less of the divergence are left as they are, where the others suffice."""
DIGITS = 4
"""Behind the point, of a weight in an edit."""


@dataclass(frozen=True)
class Chance:
    """The probability of a token at a step, and its rank."""

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
        return self.edit.at_head

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
    """The rows of heads that look elsewhere; none where nothing is needed or nothing suffices."""
    before: Chance
    after: Chance
    """In the run with the edits; where nothing suffices, as before."""
    gap: float
    """The token's logit less the largest other one: the largest gap found, where it is below 0."""

    @property
    def reached(self) -> bool:
        """Tell whether a change suffices, by a run with its edits."""
        return self.after.rank == 1

    @property
    def edits(self) -> tuple[Edit, ...]:
        return tuple(row.edit for row in self.rows)

    @property
    def divergence(self) -> float:
        """Add up the divergences of all rows, in nats."""
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
    margin: float = MARGIN,
) -> Needed:
    """Find what these heads would have to look at for the step to write this token.

    heads: kind, layer and head of a decoder's; None: all of cross-attention, of a generator all.
    One that may look at nothing in this step is left out.
    on_step: called before each pass; what it raises ends the search. edits: in force meanwhile.
    margin: the lead over all other tokens, in logits, that is asked for.
    Raises InputError, of an edit EditError.
    """
    made = edits_of(edits)
    chosen = _heads(checkpoint, heads)
    sources, of_model = read_words(checkpoint, source, made)
    ids = target_ids(checkpoint, target, len(sources)) or []
    if not 0 <= step < len(ids):
        raise InputError(f"There is no step {step}: the target has {len(ids)}, counted from 0.")
    if not 0 <= token_id < checkpoint.config.vocab_size:
        raise InputError(f"{checkpoint.name} has no token {token_id}.")
    token = checkpoint.tokenizer.token(token_id)
    tokens = (*map(checkpoint.tokenizer.token, ids[:step]), token)
    made, of_model = (within(checkpoint, source, tokens, each) for each in (made, of_model))

    def run(more: Sequence[Edit] = ()) -> Recording:
        return record(checkpoint, source, tokens, (*made, *more))

    plain = run()
    before = _chance(plain.require_logits()[-1], token_id)
    lead = gap_of(plain.require_logits()[-1], token_id)
    if before.rank == 1 and lead >= margin - MARGIN:
        return Needed(token, step, (), before, before, lead)
    row_pass = RowPass(checkpoint, source, sources, ids[:step], of_model)
    search = RowSearch(row_pass, token_id, on_step, margin)
    log_p = _open_rows(plain, chosen)
    attempts = [search.rows(log_p)]
    shares = {head: divergence(log_p[head], row) for head, row in attempts[0].items()}
    most = [head for head in log_p if shares[head] >= LEAST_SHARE * sum(shares.values())]
    if search.is_enough and len(most) < len(log_p):
        attempts.insert(0, search.rows({head: log_p[head] for head in most}))
    for attempt in attempts:
        forced = [_edit(head, plain, weights) for head, weights in attempt.items()]
        edited = run(forced)
        after = _chance(edited.require_logits()[-1], token_id)
        if after.rank == 1:
            rows = tuple(_row(edit, plain, edited) for edit in forced)
            gap = gap_of(edited.require_logits()[-1], token_id)
            return Needed(token, step, rows, before, after, gap)
    return Needed(token, step, (), before, before, search.largest_gap)


def _heads(checkpoint: Checkpoint, heads: Sequence[Head] | None) -> list[Head]:
    """Return the heads that are asked for. Raises InputError."""
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
        name = "no head" if wrong is None else f"{wrong[0]} L{wrong[1]} H{wrong[2]}"
        raise InputError(f"Choose heads that a decoding step looks with: {name} is not one.")
    return list(dict.fromkeys((kind, layer, head) for kind, layer, head in heads))


def _open_rows(recording: Recording, heads: Sequence[Head]) -> dict[Head, Tensor]:
    """The last rows' log weights, of heads that may look at something. Raises InputError."""
    rows = {head: _log_weights(recording, head) for head in heads}
    result = {head: row for head, row in rows.items() if not row.isnan().any()}
    if not result:
        raise InputError(
            "Everything that these heads could look at in this step is hidden: leave a word open."
        )
    return result


def _log_weights(recording: Recording, head: Head) -> Tensor:
    """Return the last row's log weights [K], exact where a weight is too small for float32.

    Not numbers where all keys are closed.
    """
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
