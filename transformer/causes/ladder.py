"""A ladder of cuts, from one arrow to the word deleted, and a yardstick for lenses."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat

import torch
from torch import Tensor

from transformer.analysis.corpus_sweep import interval
from transformer.analysis.reading import Reading, lenses, read
from transformer.analysis.scored import Output, output_of, scored
from transformer.causes.evidence import evidence
from transformer.checkpoint import Checkpoint
from transformer.decoding.decode import decode
from transformer.decoding.shared_batch import OnStep
from transformer.editing.checking import side_read
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edits_of, parse
from transformer.inputs import InputError, source_ids
from transformer.models.family import Ids
from transformer.recording import Attention, Recording
from transformer.recording.ours import record
from transformer.token import Token
from transformer.words import word_groups

# A ladder of cuts, from one arrow to the word deleted: where does a written token go?


@dataclass(frozen=True)
class Rung:
    """One step of a ladder."""

    name: str
    """"arrow", "word in this head", "head", "layer", "all layers", "every row", "hidden" or
    "deleted"."""
    edits: tuple[Edit, ...]
    """The edits that do it; none of a deletion, which is another text, whose later words move."""
    cost: float
    """The loss of the token's log-probability, in nats."""


def ladder(
    checkpoint: Checkpoint,
    text: str,
    target: str | Sequence[Token],
    arrow: Edit | str,
    edits: Iterable[Edit | str] = (),
    on_step: OnStep | None = None,
) -> tuple[Rung, ...]:
    """Climb from an arrow such as "cut:cross.2.0.5.3", to a word that is read, rung by rung.

    The token is the one that the arrow's row writes. edits: in force all the while; nothing is
    deleted then. on_step: called before each batch, or run. Raises InputError, of an edit
    EditError.
    """
    cut, made = parse(str(arrow)), edits_of(edits)
    kind = "cross" if checkpoint.family.reads == "source" else "decoder_self"
    plain = record(checkpoint, text, target, made)
    attention = plain.attentions.get(kind)
    is_arrow = (cut.name, cut.place) == ("cut", kind) and checkpoint.family.decodes
    if not is_arrow or attention is None or cut.key >= len(plain.source):
        raise InputError(f"{cut} is not an arrow from a written word to one that is read.")
    step = cut.query - (len(attention.queries) - len(plain.target))
    _check(cut, attention, step, len(plain.target))
    groups = word_groups(plain.source)
    word = next(i for i, group in enumerate(groups) if cut.key in group)
    named = _named(cut, attention, groups[word], word, side_read(checkpoint))
    output = output_of(checkpoint, text, plain.target)
    groups_of_edits = [(*made, *each) for each in ((), *named.values())]
    costs = _costs(checkpoint, output, groups_of_edits, step, on_step)
    rungs = [
        Rung(name, group, cost) for (name, group), cost in zip(named.items(), costs, strict=True)
    ]
    if not made and len(groups) > 1:
        targets = [token.id for token in plain.target]
        before, after = (
            _log_prob(checkpoint, ids, targets, step)
            for ids in (_ids(checkpoint, text), _ids(checkpoint, text, groups[word]))
        )
        rungs.append(Rung("deleted", (), before - after))
    return tuple(rungs)


def strongest_arrow(recording: Recording, step: int, word: int) -> Edit:
    """Return the cut of the largest weight, of all layers and heads, from the row that writes a
    token to the pieces of a word that is read. Raises InputError where the row sees none of them.

    step: the number of the token in the target; word: one of the source's `word_groups`.
    """
    kind = "cross" if "cross" in recording.attentions else "decoder_self"
    if not 0 <= step < len(recording.target):
        raise InputError(f"No token {step} is written: there are {len(recording.target)}, from 0.")
    attention, pieces = recording.attentions[kind], word_groups(recording.source)[word]
    query = len(attention.queries) - len(recording.target) + step
    rows = [attention.weights(layer)[:, query, list(pieces)] for layer in range(attention.n_layers)]
    weights = torch.stack(rows)  # [L, H, pieces]
    layer, head, piece = map(int, torch.unravel_index(weights.argmax(), weights.shape))
    if not float(weights[layer, head, piece]):
        raise InputError(f"The row that writes token {step} looks at no piece of that word.")
    return Edit("cut", kind, (layer, head, query, pieces[piece]))


def _check(cut: Edit, attention: Attention, step: int, n_written: int) -> None:
    """Raise InputError where the arrow is not there, or does not write."""
    sizes = {"layer": attention.n_layers, "head": attention.n_heads}
    for (name, n), number in zip(sizes.items(), cut.numbers, strict=False):
        if number >= n:
            raise InputError(f"{cut}: there is no {name} {number}: there are {n}, from 0.")
    if not 0 <= step < n_written:
        raise InputError(f"{cut}: that row writes nothing.")
    if not bool(attention.allowed(cut.layer, cut.head)[cut.query, cut.key]):
        raise InputError(f"{cut}: that row does not see that word: there is nothing to cut.")


def _named(
    cut: Edit, attention: Attention, pieces: Sequence[int], word: int, side: str
) -> dict[str, tuple[Edit, ...]]:
    """Name -> the edits of each rung but the last."""

    def cells(layers: Iterable[int], heads: Iterable[int]) -> tuple[Edit, ...]:
        places = [(layer, head) for layer in layers for head in heads]
        return tuple(
            Edit("cut", cut.place, (layer, head, cut.query, key))
            for layer, head in places
            for key in pieces
            if bool(attention.allowed(layer, head)[cut.query, key])
        )

    heads, layers = range(attention.n_heads), range(attention.n_layers)
    rungs = {
        "arrow": (cut,),
        "word in this head": cells([cut.layer], [cut.head]),
        "head": (Edit("head-off", cut.place, (cut.layer, cut.head)),),
        "layer": cells([cut.layer], heads),
        "all layers": cells(layers, heads),
    }
    if cut.place == "cross":  # in a decoder by itself that is the word hidden
        rungs["every row"] = (Edit("cut-word", "cross", (word,)),)
    return rungs | {"hidden": (Edit("hide", side, (word,)),)}


def _costs(
    checkpoint: Checkpoint,
    output: Output,
    groups: Sequence[Sequence[Edit]],
    step: int,
    on_step: OnStep | None,
) -> list[float]:
    """Compute the cost of each group but the first, which is the run as it is."""
    parts = []
    for part in scored(checkpoint, output, groups, on_step=on_step):
        if part.refused:
            raise EditError(part.refused[0])
        parts.append(part)
    log_probs = torch.cat([part.log_probs for part in parts])[:, step].double()
    costs: list[float] = (log_probs[0] - log_probs[1:]).tolist()
    return costs


def _ids(checkpoint: Checkpoint, text: str, without: Sequence[int] = ()) -> Ids:
    return [id for i, id in enumerate(source_ids(checkpoint, text)) if i not in without]


@torch.inference_mode()
def _log_prob(checkpoint: Checkpoint, sources: Ids, targets: Ids, step: int) -> float:
    """Read off the log-probability of a token, after a source of these tokens."""
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, targets)
    rows = (torch.tensor([ids], device=checkpoint.device) for ids in forced.inputs)
    logits = checkpoint.model(*rows)[0][-len(targets) :][step].double()
    return float(logits.log_softmax(-1)[targets[step]])


# A yardstick for lenses: the order in which each puts the source's words, against hide's.

CUT, RANDOM = "cut", "random order"
"""Two that lenses stand beside: another intervention, and one that knows nothing."""


@dataclass(frozen=True)
class Estimate:
    """A mean over written words; resampled sentences give 95 % of theirs between low and high."""

    mean: float
    low: float | None
    """None: there is only one sentence."""
    high: float | None


@dataclass(frozen=True)
class Agreement:
    """One order of the source's words against that of what hiding each of them costs."""

    rank: Estimate
    """Spearman's correlation of a written word's row with its costs, -1..1."""
    first: Estimate
    """The share of written words whose first source word is the one that costs most."""
    n_sentences: int
    n_words: int


@dataclass(frozen=True)
class Yardstick:
    """Every lens, measured on the same sentences."""

    agreements: dict[str, Agreement]
    """Lens -> how well it does; then CUT and RANDOM."""
    left_out: dict[str, str]
    """Lens or text -> the sentence that says why."""


def yardstick(
    checkpoint: Checkpoint, texts: Iterable[str], targets: Iterable[str] | None = None
) -> Yardstick:
    """Hide every word of each text, and compare with that what lenses make of the same output.

    targets: what is written of each text; None: what greedy decoding writes. A lens is read in
    cross-attention: the last layer, the mean of its heads, by the row that writes. Special tokens
    are left out on both sides. Raises InputError where there is no cross-attention, or no text that
    could be read.
    """
    if "cross" not in checkpoint.family.attentions:
        raise InputError(f"{checkpoint.name} has no cross-attention, which lenses are compared in.")
    rows: dict[str, list[Tensor]] = {}
    left_out: dict[str, str] = {}
    wanted: Iterable[str | None] = repeat(None) if targets is None else targets
    for text, target in zip(texts, wanted, strict=targets is not None):
        try:
            maps, costs, reasons = _sentence(checkpoint, text, target)
        except InputError as error:
            left_out[text] = str(error)
            continue
        left_out |= reasons
        for name, values in maps.items():
            rows.setdefault(name, []).append(agreement(values, costs))
    if not rows:
        raise InputError(next(iter(left_out.values()), "There is no text to compare lenses on."))
    names = [name for name in (*lenses(), CUT, RANDOM) if name in rows]
    return Yardstick({name: _agreement(rows[name]) for name in names}, left_out)


def agreement(values: Tensor, costs: Tensor) -> Tensor:
    """Compare rows [T, S] of values with rows of costs: rank correlation and first word, [T, 2].

    What is equal shares its rank. Of several first words each has its part; a row in which all are
    equal has no order: its correlation is 0.
    """
    ours, theirs = _ranks(values), _ranks(costs)
    sizes = (ours.square().sum(-1) * theirs.square().sum(-1)).sqrt()
    rank = torch.where(sizes > 0, (ours * theirs).sum(-1) / sizes.clamp_min(1.0), 0.0)
    is_first = (values == values.amax(-1, keepdim=True)).double()
    needed = costs.argmax(-1, keepdim=True)
    first = (is_first / is_first.sum(-1, keepdim=True)).gather(-1, needed)[:, 0]
    return torch.stack([rank, first], -1)


def _ranks(values: Tensor) -> Tensor:
    """Count those of a row below each value less those above it: ranks around 0, in float64."""
    return (values[..., :, None] - values[..., None, :]).sign().sum(-1).double()


def _sentence(
    checkpoint: Checkpoint, text: str, target: str | None
) -> tuple[dict[str, Tensor], Tensor, dict[str, str]]:
    """Name -> values, and the costs of hiding, a row per written word [T, S]; lens -> why not."""
    written = decode(checkpoint, text).target if target is None else target
    recording = record(checkpoint, text, written)
    rows, columns = _words(recording.target), _words(recording.source)
    if not rows or len(columns) < 2:
        raise InputError("There are not two words to compare, or none is written.")
    result = evidence(checkpoint, text, recording.target)
    assert result.cut is not None
    costs, cut = (each[rows][:, columns] for each in (result.hidden, result.cut))
    maps, reasons = {CUT: cut, RANDOM: torch.zeros_like(costs)}, {}
    for name, lens in lenses().items():
        if lens.of_output:  # it is the judge itself
            continue
        try:
            words = read(recording, "cross", Reading(lens=name, words=True, special="hidden"))
        except ValueError as error:
            reasons[name] = str(error)
            continue
        maps[name] = words.values(words.n_layers - 1).mean(0).double()
    return maps, costs, reasons


def _words(tokens: Sequence[Token]) -> list[int]:
    """Number the words that are not special, as `Evidence` counts them."""
    return [i for i, group in enumerate(word_groups(tokens)) if not tokens[group[0]].special]


def _agreement(sentences: list[Tensor]) -> Agreement:
    """Join what sentences of [T, 2] each give: words count alike, sentences are resampled."""
    sizes = torch.tensor([len(rows) for rows in sentences])
    means = interval(torch.stack([rows.mean(0) for rows in sentences]), sizes)
    sure = len(sentences) > 1
    rank, first = (
        Estimate(float(mean), float(low) if sure else None, float(high) if sure else None)
        for mean, low, high in zip(means.mean, means.low, means.high, strict=True)
    )
    return Agreement(rank, first, len(sentences), int(sizes.sum()))
