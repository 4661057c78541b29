"""Written words replaced, and two texts of one source, word by word."""

import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import torch
from torch import Tensor, nn

from transformer.analysis.scored import ROWS, judged, log_probabilities
from transformer.checkpoint import Checkpoint
from transformer.decoding.method import Ask, Hypothesis, Model, Search, length_limit
from transformer.decoding.shared_batch import OnStep, alone, in_steps
from transformer.editing.checking import read_words
from transformer.editing.editor import Editor, within
from transformer.editing.ours import Editing, editing
from transformer.editing.references import references
from transformer.editing.running import edited
from transformer.edits.edit import Edit
from transformer.edits.spelling import edits_of
from transformer.inputs import InputError
from transformer.models.family import ForcedPass, Ids
from transformer.recording.ours import record
from transformer.recording.watched import edited_logits, plan_of
from transformer.token import Token
from transformer.watch.capture.operators import as_written, watching
from transformer.words import word_groups, words_of

# Written words replaced, one by one: what those after them lose.
#
# Hiding its key would not be enough: a word stays in its own row, which writes the next one. So
# its embedding is replaced where it is read, at its place: by that of the unknown token, or by
# the mean of all embeddings where there is none or where no text that was trained on had it.

FIRST = 300
"""Pieces at the beginning of a vocabulary among which special ones and single bytes stand."""
_BYTE = re.compile(r"<0x[0-9A-F]{2}>")


def stand_in(checkpoint: Checkpoint) -> int | None:
    """Find the unknown token; None where there is none, or where bytes leave nothing unknown.

    Then it is never read in training: in en-de its embedding is that of any piece that was not,
    near the mean (cosine .99; 300 words of the stage set name the same first word by both in 89 %,
    rank correlation .87).
    """
    n = min(FIRST, checkpoint.config.vocab_size)
    tokens = [checkpoint.tokenizer.token(id) for id in range(n)]
    if any(_BYTE.fullmatch(token.piece) for token in tokens):
        return None
    return next((token.id for token in tokens if token.unknown), None)


def replaced(
    checkpoint: Checkpoint,
    text: str,
    sources: Ids,
    targets: Ids,
    words: Sequence[Sequence[int]],
    edits: Sequence[Edit] = (),
    unknown: int | None = None,
    on_step: OnStep | None = None,
) -> Tensor:
    """Log-probabilities of the target [N, T] with each of N words of it replaced.

    words: the places of its pieces. edits: in force. unknown: the token in their place; None: the
    mean embedding. on_step: called before each batch, or run. What is written before a word
    keeps its own. Raises EditError.
    """
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, targets)
    first = len(forced.inputs[-1]) - len(targets) + 1  # where the target's first token is read
    marks = torch.zeros(len(words), len(forced.inputs[-1]) + 1, dtype=torch.bool)
    for row, word in enumerate(words):
        marks[row, [first + place for place in word]] = True
    marks = marks[:, :-1].to(checkpoint.device)  # nothing reads the last one
    tensors = references(checkpoint, text, sources, edits)
    if checkpoint.family.is_watched:
        logits = _watched(checkpoint, forced, marks, unknown, Editor(edits, tensors), on_step)
        scores = logits[:, -len(targets) :].log_softmax(-1)
        return scores[:, range(len(targets)), targets].float()
    parts = []
    for some in in_steps(marks.split(ROWS), on_step):
        at_work = _Replacing(edits, tuple(forced.embedded)[-1:], references=tensors)
        at_work.replace(checkpoint, some, unknown)
        states = _states(checkpoint, forced, sources, len(some), at_work)
        parts.append(judged(checkpoint, states[:, -len(targets) :], [targets])[0][0])
    return torch.cat(parts)


class _Replacing(Editing):
    """Edits of a call that reads a target, and one embedding in the place of some of its own."""

    def replace(self, checkpoint: Checkpoint, marks: Tensor, unknown: int | None) -> None:
        """marks: bool [B, T], where it stands."""
        table: Any = checkpoint.model.embedding
        self._marks, self._row = marks, _row(table.weight, unknown) * table.scale

    def embedded(self, ids: Tensor, rows: Tensor) -> Tensor:
        return torch.where(self._marks[..., None], self._row.to(rows.dtype), rows)


@torch.inference_mode()
def _states(
    checkpoint: Checkpoint, forced: ForcedPass, sources: Ids, n_rows: int, at_work: Editing
) -> Tensor:
    """The decoder's last states [N, T, D] of a model of ours: a row per replaced word."""
    model: Any = checkpoint.model
    family, sides = checkpoint.family, tuple(forced.embedded)
    if family.continues:
        state = model.nothing_read()
    else:
        reading = Editing(at_work.edits, sides, references=at_work.references)
        with editing(model, family, reading):
            state = model.start(torch.tensor([sources], device=checkpoint.device))
    state.reorder(torch.zeros(n_rows, dtype=torch.long, device=checkpoint.device))
    read = torch.tensor([forced.inputs[-1]], device=checkpoint.device).expand(n_rows, -1)
    with editing(model, family, at_work):
        states: Tensor = model.read(state, read)
    return states


def _watched(
    checkpoint: Checkpoint,
    forced: ForcedPass,
    marks: Tensor,
    unknown: int | None,
    editor: Editor,
    on_step: OnStep | None,
) -> Tensor:
    """Logits [N, T, V] in float64 of any other model, which runs once for each row of marks."""
    plan = plan_of(checkpoint, forced) if editor.edits else None
    rows = [torch.tensor([ids], device=checkpoint.device) for ids in forced.inputs]
    result = []
    for mark in in_steps(marks, on_step):
        with _tables_give(checkpoint.model, rows[-1], mark, unknown), torch.inference_mode():
            if plan is None:
                logits: Tensor = checkpoint.model(*rows)[0]
            else:
                logits = edited_logits(checkpoint, forced, plan, editor)
        result.append(logits.cpu().double())
    return torch.stack(result)


@contextmanager
def _tables_give(
    model: nn.Module, read: Tensor, mark: Tensor, unknown: int | None
) -> Iterator[None]:
    """While entered, tables of words that read these ids in this thread give another row.

    mark: bool [T], where that is. Raises InputError at the end where none did.
    """
    thread, fired = threading.get_ident(), []

    def hook(table: nn.Module, inputs: tuple[Any, ...], rows: Tensor) -> Tensor | None:
        ids = inputs[0] if inputs else None
        if threading.get_ident() != thread or not isinstance(ids, Tensor):
            return None
        with watching(None):
            if not torch.equal(ids.flatten(), read.flatten()) or not _is_of_words(table, ids, rows):
                return None
            fired.append(table)
            row = _of_table(table, unknown).to(rows.dtype)
            return torch.where(mark[:, None], row, rows.flatten(0, -2)).view_as(rows)

    with ExitStack() as hooks:
        hooks.enter_context(as_written())
        for table in model.modules():
            if isinstance(table, nn.Embedding):
                hooks.callback(table.register_forward_hook(hook).remove)
        yield
    if not fired:
        raise InputError("This model reads what is written through no table that torch shows.")


def _is_of_words(table: nn.Module, ids: Tensor, rows: Tensor) -> bool:
    """Tell whether ids [..., T] the other way round give the rows [..., T, D] so: not of places.

    BART's table of positions is given the ids, to count them.
    """
    turned: Tensor = table.forward(ids.flip(-1))
    return torch.equal(turned, rows.flip(-2))


def _of_table(table: Any, unknown: int | None) -> Tensor:
    """The row as the table gives it: some scale theirs."""
    one = torch.tensor([1 if unknown is None else unknown], device=table.weight.device)
    scaled, own = table.forward(one).float(), table.weight[one].float()
    if unknown is not None:
        return scaled[0]
    scale = scaled.norm() / own.norm().clamp_min(1e-20)
    return _row(table.weight, None) * scale


def _row(weight: Tensor, unknown: int | None) -> Tensor:
    """One embedding [D] of [V, D]: that of the unknown token, or the mean."""
    row = weight.float().mean(0) if unknown is None else weight[unknown].float()
    return row.detach()


# Two texts of one source, word by word: where they part, and what each gives the other's words.
#
# Token-level disagreement by teacher forcing: log p(y_t | source, prefix of A) for the words of
# B, and back.


@dataclass(frozen=True)
class Parting:
    """A word of one text, and the word that the other has in its place; log p in nats."""

    place: int
    """The number of the word in the first text, from 0."""
    word: str
    other_place: int
    other: str
    log_prob: float
    """The log-probability of the word behind its own text."""
    other_log_prob: float
    """The same of the other word, behind its own text."""
    other_here: float
    """The same of the other word, behind the first text."""
    word_there: float
    """The same of the word, behind the other text."""


def partings(
    checkpoint: Checkpoint,
    text: str,
    first: Sequence[Token],
    second: Sequence[Token],
    edits: Iterable[Edit | str] = (),
    on_step: Callable[[], object] | None = None,
) -> list[Parting]:
    """Compare two targets of one source where words stand for each other.

    Words that one of them has and nothing in the other's place are left out: `differing` marks
    them. on_step: called before each pass. Raises InputError.
    """
    made, result = edits_of(edits), []

    def scored(before: Sequence[Token], word: Sequence[Token]) -> float:
        """log p of a word's pieces behind a text."""
        if on_step is not None:
            on_step()
        part = [*before, *word]
        recording = record(checkpoint, text, part, within(checkpoint, text, part, made))
        return float(log_probabilities(recording)[len(before) :].sum())

    groups, others = word_groups(first), word_groups(second)
    words, other_words = words_of(first), words_of(second)
    for i, j in _pairs(words, other_words):
        one, other = (
            [side[k] for k in group] for side, group in ((first, groups[i]), (second, others[j]))
        )
        before, other_before = first[: groups[i][0]], second[: others[j][0]]
        result.append(
            Parting(
                *(i, words[i], j, other_words[j]),
                log_prob=scored(before, one),
                other_log_prob=scored(other_before, other),
                other_here=scored(before, other),
                word_there=scored(other_before, one),
            )
        )
    return result


def _pairs(words: Sequence[str], others: Sequence[str]) -> list[tuple[int, int]]:
    """Places of words that stand for each other.

    >>> _pairs("weil es zu müde war".split(), "weil er müde war".split())
    [(1, 1)]
    """
    codes = SequenceMatcher(None, words, others, autojunk=False).get_opcodes()
    parts = [(range(a, b), range(c, d)) for code, a, b, c, d in codes if code == "replace"]
    return [pair for a, b in parts for pair in zip(a, b, strict=False)]


# A text that a model continues behind given tokens: greedy decoding from there.

IsEnough = Callable[[Sequence[Token]], bool]
"""Told all tokens that are written, those that were given aside; True ends the writing."""


def continuation(
    checkpoint: Checkpoint,
    text: str,
    before: Sequence[Token],
    edits: Sequence[Edit] = (),
    is_enough: IsEnough | None = None,
    on_step: OnStep | None = None,
    max_len: int | None = None,
) -> tuple[Token, ...]:
    """Write on behind `before`, of the target, up to an end; without `before` itself.

    is_enough: asked after each token. max_len: of the whole target, in tokens, as in `decode`;
    None: the model's own limit. Raises InputError, of an edit EditError.
    """
    sources, of_model = read_words(checkpoint, text, edits)
    token = checkpoint.tokenizer.token

    def enough(ids: Sequence[int]) -> bool:
        return is_enough is not None and is_enough(tuple(map(token, ids)))

    with torch.inference_mode(), edited(checkpoint, text, sources, of_model) as model:
        source = torch.tensor([sources], device=checkpoint.device)
        search = _search(model, source, [each.id for each in before], enough, max_len)
        (hypothesis,) = alone(model, search, source, on_step)
    return tuple(map(token, hypothesis.ids))


def _search(
    model: Model,
    source: Tensor,
    before: Sequence[int],
    enough: Callable[[Sequence[int]], bool],
    max_len: int | None,
) -> Search:
    first = source.new_tensor([before], dtype=source.dtype)
    read = torch.cat([model.first(source), first], dim=1)
    ids: list[int] = []
    for _ in range(length_limit(model, source, max_len) - len(before)):
        logits = yield Ask(read)
        ids.append(int(logits[0, -1].argmax()))
        if ids[-1] in model.config.eos_ids or enough(ids):
            break
        read = source.new_tensor([ids[-1:]])
    return [Hypothesis(tuple(ids), torch.empty(len(ids), 0), 0.0)]
