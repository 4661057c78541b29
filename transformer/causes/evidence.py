"""evidence(): what each written word looks at, and what it cannot be written without."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from typing import Any

import torch
from torch import Tensor

from transformer.analysis.lost import NOT_LISTED, Lost, function_words, lost_words, traces
from transformer.analysis.scored import (
    Output,
    Scored,
    in_batches,
    output_of,
    output_read,
    scored,
)
from transformer.causes.prefix import replaced, stand_in
from transformer.causes.verdict import Verdict, verdict
from transformer.checkpoint import Checkpoint, check_open
from transformer.decoding.decode import decode
from transformer.decoding.shared_batch import OnStep
from transformer.device import usual_state
from transformer.editing.checking import side_read
from transformer.edits.edit import Edit, EditError
from transformer.edits.spelling import edit_kinds, edits_of
from transformer.field_docs import fields_in_help
from transformer.files.foreign_text import csv_bytes
from transformer.inputs import FUNCTION, InputError, checks
from transformer.origin import Origin
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.token import Token
from transformer.words import word_groups, word_piece, words_of

# The last layer's weights as a word is written: on words of the source, and on what is beside.


def looks(
    plain: Recording, words: Sequence[Sequence[int]]
) -> tuple[Tensor | None, tuple[str | None, ...]]:
    """Compute `Evidence.weights` [T, S] and `Evidence.beside`, by the rows that write.

    words: the positions of each of the T written words.
    """
    attention = plain.attentions.get("cross") or plain.attentions.get("decoder_self")
    n, n_source = len(plain.target), len(plain.source)
    if attention is None or not n:
        return None, ()
    pieces = attention.weights(attention.n_layers - 1).mean(0).cpu().double()[-n:]  # [P, K]
    rows = torch.stack([pieces[list(group)].mean(0) for group in words])  # [T, K]
    groups = word_groups(attention.keys[n_source:])
    others = [tuple(n_source + i for i in group) for group in groups]
    columns = [rows[:, list(group)].sum(-1) for group in (*word_groups(plain.source), *others)]
    n_words = len(columns) - len(others)
    weights, beside = torch.stack(columns, -1).split([n_words, len(others)], -1)
    names = words_of(attention.keys[n_source:])
    return weights, tuple(map(partial(_beside, names), weights, beside))


def _beside(names: Sequence[str], weights: Tensor, others: Tensor) -> str | None:
    """Name what has more weight than any word of the source, as `Evidence.beside` has it."""
    most = float(weights.max())
    if len(others) and float(others.max()) > most:
        return names[int(others.argmax())]
    return None if most > 0 else ""


# The output that is judged: what is written, beside the next most probable token of each place.

MOST_FOILS = 50
"""Tokens of a place among which its runner-up is."""
_BEFORE = Token(-1, "a")


def output_beside(checkpoint: Checkpoint, text: str, plain: Recording) -> Output:
    """Find what is judged: of a target with the most probable other token of each place."""
    if not plain.target:
        return output_read(checkpoint, text, plain)
    output = output_of(checkpoint, text, plain.target)
    others = plain.require_logits().float().cpu().clone()
    others[range(len(plain.target)), [token.id for token in plain.target]] = -torch.inf
    best = others.topk(min(MOST_FOILS, others.shape[-1]), dim=-1).indices.tolist()
    token = checkpoint.tokenizer.token
    pairs = zip(plain.target, best, strict=True)
    return replace(output, foils=tuple(_foil(own, list(map(token, ids))) for own, ids in pairs))


def _foil(own: Token, others: Sequence[Token]) -> Token:
    """Take the first one that begins a word as its own does, or goes on with one: else the first.

    "Das" behind a word is no other word than "Das" by itself, and would be none at all.
    """
    return next((each for each in others if _goes_on(each) == _goes_on(own)), others[0])


def _goes_on(token: Token) -> bool:
    """Tell whether a token goes on with a word that is before it."""
    return len(word_groups((_BEFORE, token))) == 1


# evidence(): what each written word looks at, and what it cannot be written without.

MOST_WORDS = 500
"""Words of a text, at most. Time grows with more than their square, and memory, for batches of
`ROWS` rows, with their number: 500 take a model of base size 2.3 GB and three minutes on two
cores."""
MOST_RUNS = 200
"""Runs of a model that is watched, at most: each word that is hidden may need one of its own."""


@fields_in_help
@dataclass(frozen=True, eq=False)
class Evidence:
    """The worth of a text's words to each of T words that are written.

    Costs, in `unit`, are what is lost of a word's log-probability, the sum over its pieces:
    positive where it is missed. Instead of written words a classifier has its class, T = 1; an
    encoder its vector, whose costs are degrees; a regression its numbers, in their own units; a
    masked model the words at its masks.
    """

    source_words: tuple[str, ...]
    """The S words that are read, by `word_groups`."""
    target_words: tuple[str, ...]
    """The T words that are written, or what stands for them."""
    log_probs: Tensor
    """[T], in nats, with every word in its place; the numbers themselves; of a vector 0."""
    hidden: Tensor
    """[T, S]: the cost of nobody's seeing the word."""
    cut: Tensor | None = None
    """[T, S]: the cost of the decoder's not reading it; None: no cross-attention."""
    prefix: Tensor | None = None
    """[T, T]: the cost of replacing a written word, 0 from the diagonal on; None: none written."""
    weights: Tensor | None = None
    """[T, S]: where the last layer looks, the mean of its heads and of the word's rows; None: not
    known, or nothing is written."""
    beside: tuple[str | None, ...] = ()
    """The key outside the source that has more weight than any word of it, for each written word:
    a written one, or one that the model adds; "": no weight is on the source, or elsewhere; None:
    a word of the source has most. Empty without weights."""
    runner_ups: tuple[str, ...] = ()
    """The tokens that were most probable beside the pieces of each word, as "Über + kreuz": of
    those that begin a word where its own do. Of a class the next one."""
    contrast: Tensor | None = None
    """[T, S]: what hiding takes from the lead over the runner-up, in nats."""
    without_source: Tensor | None = None
    """[T]: the log-probabilities with all of the source hidden; None: nothing is written."""
    lost: tuple[Lost, ...] = ()
    """The words of the source without a trace in what is written, as `transformer.analysis.lost`
    finds them; empty without cross-attention: a decoder by itself goes on, and says nothing
    again."""
    not_judged: str = ""
    """The reason why lost words are not looked for, of a model that could lose some."""
    unit: str = "nats"
    """The unit of costs and of `log_probs`: "nats", "degrees", or a number's own "units"."""
    origin: Origin | None = None
    """The call that made it, of a model of ours; None: it came otherwise."""
    target: tuple[Token, ...] = ()
    """The tokens that are judged."""

    def __repr__(self) -> str:
        sizes = f"{len(self.target_words)} target words, {len(self.source_words)} source words"
        return f"Evidence({sizes}, in {self.unit})"

    @property
    def source_gives(self) -> Tensor | None:
        """Compute what the whole source adds to each log-probability [T]."""
        return None if self.without_source is None else self.log_probs - self.without_source

    @property
    def lost_words(self) -> tuple[int, ...]:
        """The numbers of the source's words that are `lost`."""
        return tuple(word for span in self.lost for word in span.words)

    @cached_property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One for each written word; none where nothing is written."""
        if self.prefix is None:
            return ()
        return tuple(
            verdict(
                t,
                self.target_words,
                self.source_words,
                None if self.weights is None else self.weights[t],
                self.hidden[t],
                None if self.cut is None else self.cut[t],
                self.prefix[t, :t],
                self.beside[t] if self.beside else None,
            )
            for t in range(len(self.target_words))
        )


@usual_state()
@checks(on_step=FUNCTION.or_none)
def evidence(
    checkpoint: Checkpoint,
    text: str,
    target: str | Sequence[Token] | None = None,
    edits: Iterable[Edit | str] | None = (),
    on_step: OnStep | None = None,
) -> Evidence:
    """Find what each written word needs: every word of the text is hidden in turn.

    checkpoint: open, or its name or path.
    text: the source, or what is read.
    target: what is written, as text or tokens; None: what greedy decoding writes.
    edits: changes of the model, in force all the while, such as "head-off:cross.2.3".
    on_step: called before each batch of words that are hidden, cut off or replaced, or each of
        these words where a model takes no batch, without arguments; it may wait, and what it raises
        ends the run. How many there are is not known before: what may be lost is looked at again.

    Returns `Evidence`: for T written and S read words costs [T, S] in nats, what a word's
    log-probability loses, and a verdict for each written word. Hiding is erasure (Li et al. 2016),
    cutting the decoder off attention knockout (Geva et al. 2023). A model runs all words in a
    batch, and where a batch shows something else, or under edits of positions, once for each.
    Raises CheckpointError, InputError, also for a text of more than 500 words, and of an edit
    EditError.
    """
    check_open(checkpoint)
    made = edits_of(edits)
    if target is None and checkpoint.family.decodes:
        target = decode(checkpoint, text, edits=made).target
    return evidence_beside(checkpoint, text, record(checkpoint, text, target, made), made, on_step)


@usual_state()
def evidence_beside(
    checkpoint: Checkpoint,
    text: str,
    plain: Recording,
    edits: Iterable[Edit | str],
    on_step: OnStep | None = None,
) -> Evidence:
    """The same beside a recording that is there already, of just this text under these edits."""
    made = edits_of(edits)
    output = output_beside(checkpoint, text, plain)
    tried = _Tried.of(checkpoint, plain)
    tried.check(checkpoint, output, made)
    groups = [(*made, *group) for group in tried.groups]
    result = _together(scored(checkpoint, output, groups, in_batches(checkpoint, made), on_step))
    weights, beside = looks(plain, output.groups)
    of_scores = _of_scores(tried, output, plain, result)
    return replace(
        of_scores,
        prefix=_prefix(checkpoint, text, plain, output, made, on_step),
        weights=weights,
        beside=beside,
        origin=plain.origin,
        target=plain.target,
        **_lost(checkpoint, text, plain, of_scores, made, on_step),
    )


def _lost(
    checkpoint: Checkpoint,
    text: str,
    plain: Recording,
    of: Evidence,
    edits: Sequence[Edit],
    on_step: OnStep | None,
) -> dict[str, Any]:
    """Return `Evidence.lost` and `Evidence.not_judged`."""
    if of.cut is None:
        return {}
    if not function_words(checkpoint):
        return {"not_judged": NOT_LISTED.format(checkpoint.name)}
    inputs = (checkpoint, text, plain.source, plain.target, float(of.log_probs.sum()))
    values = traces(of.hidden.sum(0), of.cut.sum(0))
    return {"lost": lost_words(*inputs, values, edits, on_step)}


@dataclass(frozen=True)
class _Tried:
    """The groups of edits: none, each word hidden, and for a decoder all of them, and each cut."""

    groups: tuple[tuple[Edit, ...], ...]
    n_words: int
    decodes: bool
    has_cross: bool

    @classmethod
    def of(cls, checkpoint: Checkpoint, plain: Recording) -> "_Tried":
        n, decodes = len(word_groups(plain.source)), bool(plain.target)
        hidden = [Edit("hide", side_read(checkpoint), (i,)) for i in range(n)]
        has_cross = decodes and checkpoint.family.reads == "source"
        cut = [(Edit("cut-word", "cross", (i,)),) for i in range(n)] * has_cross
        every = [tuple(hidden)] * decodes
        return cls(((), *((it,) for it in hidden), *every, *cut), n, decodes, has_cross)

    def check(self, checkpoint: Checkpoint, output: Output, edits: Sequence[Edit]) -> None:
        """Raise InputError where a model would run too often, or with nothing to read."""
        closed = {edit.numbers for edit in edits if edit.name == "hide"}
        if not self.decodes and not output.places and self.n_words - len(closed) < 2:
            raise InputError(
                "One word of the text is there to be read: without it, there is no output that "
                "could be compared."
            )
        if self.n_words > MOST_WORDS:
            raise InputError(
                f"Each word of the text is hidden in turn: these are {self.n_words} words, and at "
                f"most {MOST_WORDS} are. Shorten the text."
            )
        n_runs = len(self.groups) + (len(output.groups) - 1) * self.decodes
        is_watched = checkpoint.family.is_watched
        if (is_watched or not in_batches(checkpoint, edits)) and n_runs > MOST_RUNS:
            so = "" if is_watched else " under an edit of positions"
            raise InputError(
                f"{checkpoint.name} runs once for each word that is hidden, cut off or replaced"
                f"{so}: these are {n_runs} runs, and at most {MOST_RUNS} are made. Shorten the "
                "text."
            )


def _together(steps: Iterable[Scored]) -> Scored:
    """All groups' scores. Raises EditError where one of them cannot be tried."""
    parts = []
    for part in steps:
        if part.refused:
            raise EditError(part.refused[0])
        parts.append(part)
    foils = [part.foils for part in parts if part.foils is not None]
    return Scored(
        torch.cat([part.log_probs for part in parts]).double(),
        torch.cat([part.best for part in parts]),
        torch.cat(foils).double() if foils else None,
    )


def _of_scores(tried: _Tried, output: Output, plain: Recording, scores: Scored) -> Evidence:
    groups, n = output.groups, tried.n_words
    names: tuple[str, ...]
    others: tuple[str, ...]
    foils: Tensor | None
    if output.classes:
        best, *foil = scores.log_probs[0].argsort(descending=True)[:2].tolist()
        groups, names = [[best]], (output.classes[best],)
        others = tuple(output.classes[i] for i in foil)
        foils = scores.log_probs[:, foil] if foil else None
    elif output.numbers or output.vector is not None:
        names, others, foils = output.numbers or ("vector",), (), None
    else:
        names = tuple(_spelled(output.words, group) for group in groups)
        others = tuple(
            " + ".join(_spelled(output.foils, [i]) for i in group)
            for group in groups
            if output.foils
        )
        foils = None if scores.foils is None else _sums(scores.foils, groups)
    words = _sums(scores.log_probs, groups)  # [N, T]
    hidden = slice(1, 1 + n)
    lead = None if foils is None else words - foils
    return Evidence(
        source_words=tuple(words_of(plain.source)),
        target_words=names,
        log_probs=words[0],
        hidden=(words[0] - words[hidden]).mT,
        cut=(words[0] - words[2 + n :]).mT if tried.has_cross else None,
        runner_ups=others,
        contrast=None if lead is None else (lead[0] - lead[hidden]).mT,
        without_source=words[1 + n] if tried.decodes else None,
        unit=output.unit,
    )


def _sums(pieces: Tensor, groups: Sequence[Sequence[int]]) -> Tensor:
    """[N, P] -> [N, T]: over the pieces of each word."""
    return torch.stack([pieces[:, list(group)].sum(-1) for group in groups], -1)


def _spelled(tokens: Sequence[Token], group: Sequence[int]) -> str:
    return word_piece([tokens[i] for i in group]).replace("▁", " ").strip()


def _prefix(
    checkpoint: Checkpoint,
    text: str,
    plain: Recording,
    output: Output,
    edits: Sequence[Edit],
    on_step: OnStep | None,
) -> Tensor | None:
    if not plain.target:
        return None
    groups, n = output.groups, len(output.groups)
    result = torch.zeros(n, n, dtype=torch.float64)
    if n == 1:
        return result
    sources, targets = ([token.id for token in each] for each in (plain.source, plain.target))
    unknown, replaceable = stand_in(checkpoint), [[], *groups[:-1]]
    left = [edit for edit in edits if edit_kinds()[edit.name].words is None]  # sources are swapped
    log_probs = replaced(checkpoint, text, sources, targets, replaceable, left, unknown, on_step)
    words = _sums(log_probs.double(), groups)
    result[:, :-1] = (words[0] - words[1:]).mT
    return result.tril(-1)


# Evidence as files: a table with a row for each pair of words, and values for JSON.

HEADER = (
    *("target", "target_word", "verdict", "side", "number", "word"),
    *("weight", "hidden", "cut", "contrast", "replaced", "lost"),
)
"""`side` is source or prefix; words are counted from 0, costs are in the evidence's unit; `lost` is
the span without a trace that a word of the source belongs to."""


def evidence_csv(evidence: Evidence) -> bytes:
    """Write each written word with each word that is read, and with each written before it."""
    return csv_bytes(HEADER, _rows(evidence))


def _rows(evidence: Evidence) -> Iterator[Sequence[Any]]:
    of_source = (evidence.weights, evidence.hidden, evidence.cut, evidence.contrast)
    lost = {word: span.text for span in evidence.lost for word in span.words}
    for t, word in enumerate(evidence.target_words):
        kind = evidence.verdicts[t].kind if evidence.verdicts else ""
        for s, other in enumerate(evidence.source_words):
            numbers = [_number(each, t, s) for each in of_source]
            yield (t, word, kind, "source", s, other, *numbers, "", lost.get(s, ""))
        if evidence.prefix is not None:
            for j, other in enumerate(evidence.target_words[:t]):
                cost = _number(evidence.prefix, t, j)
                yield (t, word, kind, "prefix", j, other, "", "", "", "", cost, "")


def _number(matrix: Tensor | None, t: int, s: int) -> str:
    return "" if matrix is None else f"{float(matrix[t, s]):.9g}"


MADE_OF = ("origin", "target")
"""Fields that say what evidence was made of: whoever asked knows it."""


def evidence_values(evidence: Evidence) -> dict[str, Any]:
    """Name -> value of everything, as JSON has them: matrices are lists of rows."""
    names = [each.name for each in fields(evidence) if each.name not in MADE_OF]
    values = {name: getattr(evidence, name) for name in names}
    verdicts = [
        {**vars(each), "word": word}
        for word, each in zip(evidence.target_words, evidence.verdicts, strict=False)
    ]
    rows = {"lost": [*map(vars, evidence.lost)], "verdicts": verdicts}
    return {name: _plain(value) for name, value in values.items()} | rows


def _plain(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value
