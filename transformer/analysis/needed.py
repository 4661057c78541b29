"""The rows that heads would need for a step to write another token.

Asked for are rows w_h of the query that writes it, for some heads h, with the least sum of
KL(w_h || p_h) to the rows p_h that the model has there, such that the token's logit is the largest.
Where the gap between it and the others has the gradient g_h, such rows are w_h = softmax(log p_h +
mu g_h) with one mu for all: g is taken again at each rows that are found, and mu such that they
are just enough as far as g tells. What is found are edits of rows, and a run with them is what is
reported. In the manner of counterfactual explanations: Wachter et al. 2018, section III.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from transformer.analysis.row_pass import Head, RowPass
from transformer.analysis.row_search import MARGIN, RowSearch, divergence, gap_of
from transformer.checkpoint import Checkpoint
from transformer.editing.ours import places
from transformer.editing.read_words import read_words
from transformer.editing.within import within
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.inputs import InputError, target_ids
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.token import Token

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
    before = _chance(plain.logits[-1], token_id)
    lead = gap_of(plain.logits[-1], token_id)
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
        after = _chance(edited.logits[-1], token_id)
        if after.rank == 1:
            rows = tuple(_row(edit, plain, edited) for edit in forced)
            gap = gap_of(edited.logits[-1], token_id)
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
