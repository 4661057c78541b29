"""A known output under many groups of edits: how likely it is under each of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import chain
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid

from transformer.analysis.watched_rows import WatchedText
from transformer.checkpoint import Checkpoint, check_open
from transformer.decoding.shared_batch import OnStep, in_steps
from transformer.device import at_least_single
from transformer.editing.editor import first_layer, kinds_of
from transformer.editing.ours import Editing, Growing, editing
from transformer.editing.ours import check as check_ours
from transformer.editing.references import references
from transformer.edits.edit import Edit, EditError
from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line
from transformer.inputs import InputError, source_ids, target_ids
from transformer.models.token_model import check_mode
from transformer.recording import Recording
from transformer.recording.ours import record
from transformer.recording.vector import angle, cosine
from transformer.token import Token
from transformer.words import SPACES, word_groups, word_piece

# The output of a text that is judged, of whatever sort it is.


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Output:
    """The output that is judged: words, classes, numbers, a masked model's tokens or a vector."""

    source: str
    """The text that is read."""
    target: tuple[Token, ...] | None
    """The tokens that the model is given as its writing; None: it only reads."""
    words: tuple[Token, ...]
    """The words that are judged: the target; of a text that is only read, all but its first."""
    foils: tuple[Token, ...] = ()
    """Another token for each word of a target, of which is said too how likely it is."""
    classes: tuple[str, ...] = ()
    """The C names of a classifier's classes; else empty."""
    numbers: tuple[str, ...] = ()
    """The names of the numbers that a regression puts on a text; else empty."""
    places: tuple[int, ...] = ()
    """The places of a masked model's words in the source: its masks, or all not special."""
    likeliest: tuple[Token, ...] = ()
    """The most probable token of each place, without an edit."""
    vector: Tensor | None = field(default=None, compare=False)
    """The text's vector without an edit [D], of a model that gives one."""
    second: str = ""
    """A second text, with whose vector the text's is compared; empty: with its own."""

    @property
    def unit(self) -> str:
        """The unit of changes; "units" are a number's own."""
        if self.numbers:
            return "units"
        return "nats" if self.vector is None else "cosine" if self.second else "degrees"

    @property
    def others(self) -> str:
        """Name what a change may put in place of what is there; empty where nothing is chosen."""
        if self.numbers or self.vector is not None:
            return ""
        return "classes" if self.classes else "tokens" if self.places else "words"

    @property
    def groups(self) -> list[list[int]]:
        """The columns of scores that belong together: a word's pieces."""
        if self.classes or self.numbers or self.vector is not None:
            return [[i] for i in range(max(1, len(self.classes or self.numbers)))]
        if self.places and self.words == self.likeliest:  # masks are words by themselves
            return [[i] for i in range(len(self.places))]
        return [list(group) for group in word_groups(self.words)]

    def texts_of(self, tokens: Sequence[Token]) -> list[str]:
        """The texts of tokens that stand in the places of its words."""
        return [word_piece([tokens[i] for i in group]).strip(SPACES) for group in self.groups]


def output_of(checkpoint: Checkpoint, source: str, target: str | Sequence[Token] | None) -> Output:
    """Find what can be judged of this source and target. Raises InputError where nothing can."""
    check_open(checkpoint)
    token, family = checkpoint.tokenizer.token, checkpoint.family
    sources = source_ids(checkpoint, source)
    ids = target_ids(checkpoint, target, len(sources))
    if ids is not None:
        tokens = tuple(map(token, ids))
        return Output(source, tokens, tokens)
    if family.decodes:
        if len(sources) < 2:
            raise InputError("The text is one token: there is none that the model could foresee.")
        return Output(source, None, tuple(map(token, sources[1:])))
    return output_read(checkpoint, source, record(checkpoint, source))


def output_read(checkpoint: Checkpoint, source: str, plain: Recording) -> Output:
    """Find the same in the recording of a model that writes nothing. Raises InputError."""
    if plain.classification is not None:
        return Output(source, None, (), classes=tuple(plain.classification.classes))
    if plain.numbers:
        return Output(source, None, (), numbers=tuple(plain.numbers))
    if plain.vector is not None:
        return Output(source, None, (), vector=plain.vector.values)
    logits = plain.require_logits()
    if logits.dim() == 2 and logits.size(1) == checkpoint.config.vocab_size:
        masks = tuple(each.position for each in plain.masked)
        places = masks or tuple(i for i, it in enumerate(plain.source) if not it.special)
        best = logits[list(places)].argmax(-1).tolist()
        likeliest = tuple(map(checkpoint.tokenizer.token, best))
        words = likeliest if masks else tuple(plain.source[i] for i in places)
        if places:
            return Output(source, None, words, places=places, likeliest=likeliest)
    raise InputError(
        f"{checkpoint.name} writes nothing, names no class and gives neither number nor "
        "vector: there is no output to compare."
    )


def compared(output: Output, second: str) -> Output:
    """The same output, judged by its cosine with a second text. Raises InputError."""
    if second and output.vector is None:
        raise InputError("There is no vector to compare with that of a second text.")
    return replace(output, second=second)


# Models of ours run all groups in one batch, a row each, and what edits leave alone is computed
# once: rows share the layers below the first that is edited (transformer/editing/ours.py). Any
# other model runs once for each group; in the rows of a batch where edits are of attention and rows
# show what the same edits show alone (transformer/analysis/watched_rows.py).

ROWS = 128
"""Rows of a batch, at most."""
CELLS = 240
"""Words whose distributions are made at once: they stay near the processor."""
Group = Sequence[Edit]


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores of T words, or of C classes, under N groups of edits. Tensors are on the CPU."""

    log_probs: Tensor
    """[N, T or C], in nats; of numbers themselves [N, C]; of a vector [N, 1], minus the angle to
    that without an edit, in degrees, or its cosine with a second text's, both under the edits."""
    best: Tensor
    """[N, T or 1]: ids of what was most probable."""
    foils: Tensor | None = None
    """[N, T]: the same of the output's foils; None where it has none."""
    refused: tuple[str, ...] = ()
    """The reason why the one group of N = 1 cannot be tried; log_probs are then not a number."""


def scored(
    checkpoint: Checkpoint,
    output: Output,
    groups: Sequence[Group],
    in_batches: bool = True,
    on_step: OnStep | None = None,
) -> Iterator[Scored]:
    """Each group's scores, in order and some at a time; an empty group changes nothing.

    in_batches: False: a model of ours, too, runs once for each group. on_step: called before each
    batch, or group. Raises EditError for an edit that a model of ours cannot have; run by run, such
    a group is `refused`. Raises InputError for a model in training mode and, in batches, for an
    edit of positions: they are of a whole run.
    """
    check_mode(checkpoint)
    is_watched = checkpoint.family.is_watched
    if is_watched and (varies := record(checkpoint, output.source, output.target).varies):
        raise InputError(varies)
    if not in_batches:
        for group in in_steps(groups, on_step):
            yield _recorded(checkpoint, output, group)
        return
    if is_watched:
        yield from _watched(checkpoint, output, groups, on_step)
        return
    sources = source_ids(checkpoint, output.source)
    targets = None if output.target is None else [token.id for token in output.target]
    forced = checkpoint.family.forced_pass(checkpoint.config, sources, targets)
    edits = [edit for group in groups for edit in group]
    check_ours(checkpoint, edits, forced)
    if not all(map(kinds_of, edits)):
        raise InputError(
            "Heads, arrows and words are tried in a batch, whose rows have the same tokens in the "
            "same positions: take the edit of positions, or of the order of words, back first."
        )
    tensors = references(checkpoint, output.source, sources, edits)
    if targets is None:  # a text that is only read follows its first token
        sources, targets = (sources, []) if output.classes else (sources[:1], sources[1:])
    for first in in_steps(range(0, len(groups), ROWS), on_step):
        some = groups[first : first + ROWS]
        if output.classes:
            yield _classified(checkpoint, sources, some, tensors)
        else:
            foils = [token.id for token in output.foils]
            yield _together(checkpoint, sources, targets, some, tensors, foils)


def in_batches(checkpoint: Checkpoint, edits: Sequence[Edit]) -> bool:
    """Tell whether groups with these edits may run in the rows of a batch, which have the same
    tokens in the same places; of a model that is watched `scored` finds out.
    """
    return checkpoint.family.is_watched or all(map(kinds_of, edits))


def _recorded(checkpoint: Checkpoint, output: Output, group: Group) -> Scored:
    try:
        recording = record(checkpoint, output.source, output.target, group)
        second = record(checkpoint, output.second, None, group) if output.second else None
    except EditError as error:
        return _refused(output, error)
    return _scored_in(output, recording, second)


def _watched(
    checkpoint: Checkpoint, output: Output, groups: Sequence[Group], on_step: OnStep | None
) -> Iterator[Scored]:
    """The same of a model that is watched: some groups at a time where that is right."""
    texts = [WatchedText(checkpoint, output.source, output.target)]
    if output.second:
        texts.append(WatchedText(checkpoint, output.second, None))
    is_right = True
    for some in in_steps(texts[0].batches(groups), on_step):
        rows = [text.rows(some) if is_right else None for text in texts]
        is_right = None not in rows
        if is_right:
            together = [_scored_in(output, *each) for each in zip(*filter(None, rows), strict=True)]
            fields = ((each.log_probs, each.best, each.foils) for each in together)
            log_probs, best, foils = zip(*fields, strict=True)
            of_foils = None if foils[0] is None else torch.cat(foils)
            yield Scored(torch.cat(log_probs), torch.cat(best), of_foils)
            continue
        for group in chain(some[:1], in_steps(some[1:], on_step)):
            try:
                yield _scored_in(output, *(text.alone(group) for text in texts))
            except EditError as error:
                yield _refused(output, error)


def _refused(output: Output, error: EditError) -> Scored:
    n = len(output.classes or output.numbers or output.words) or 1
    return Scored(torch.full((1, n), torch.nan), torch.zeros(1, n).long(), refused=(str(error),))


def _scored_in(output: Output, recording: Recording, second: Recording | None = None) -> Scored:
    """The scores of one group. second: of a second text, with whose vector is compared."""
    log_probs, best = scores_in(recording, output)
    if second is not None:
        log_probs = torch.tensor([_cosine(recording, second)])
    foils = torch.tensor([[token.id] for token in output.foils])
    if not output.foils:
        return Scored(log_probs[None], best[None])
    every = recording.require_logits().cpu().double().log_softmax(-1)
    return Scored(log_probs[None], best[None], every.gather(-1, foils).mT.to(log_probs.dtype))


def _cosine(*recordings: Recording) -> float:
    """Compare the vectors of two texts, both made under the same edits."""
    a, b = (each.vector for each in recordings)
    assert a is not None and b is not None
    return cosine(a.values, b.values)


def scores_in(recording: Recording, output: Output) -> tuple[Tensor, Tensor]:
    """Score an output in one recording: [T or C] as in Scored, and the most probable [T or 1]."""
    decided = recording.classification
    if decided is not None and output.classes:
        logits = decided.logits.cpu().double()
        log_probs = logits.log_softmax(-1) if decided.is_exclusive else logsigmoid(logits)
        single = log_probs.to(at_least_single(decided.logits).dtype)
        return single, log_probs.argmax(-1, keepdim=True)
    if output.numbers:
        return torch.tensor([*recording.numbers.values()]), torch.zeros(1, dtype=torch.long)
    if output.vector is not None and recording.vector is not None:
        turned = -angle(output.vector, recording.vector.values)
        return torch.tensor([turned]), torch.zeros(1, dtype=torch.long)
    ids = torch.tensor([token.id for token in output.words])
    logits = recording.require_logits()[list(output.places) if output.places else slice(None)]
    log_probs = logits.cpu().double().log_softmax(-1)[: len(ids)]
    own = log_probs.gather(-1, ids[:, None])[:, 0]
    return own.to(at_least_single(logits).dtype), log_probs.argmax(-1)


@torch.inference_mode()
def _classified(
    checkpoint: Checkpoint,
    sources: Sequence[int],
    groups: Sequence[Group],
    tensors: Mapping[Edit, Tensor],
) -> Scored:
    source = torch.tensor([sources], device=checkpoint.device).expand(len(groups), -1)
    with editing(checkpoint.model, checkpoint.family, Editing((), rows=groups, references=tensors)):
        log_probs = at_least_single(checkpoint.model(source)).log_softmax(-1).cpu()
    return Scored(log_probs, log_probs.argmax(-1, keepdim=True))


@torch.inference_mode()
def _together(
    checkpoint: Checkpoint,
    sources: Sequence[int],
    targets: Sequence[int],
    groups: Sequence[Group],
    tensors: Mapping[Edit, Tensor],
    foils: Sequence[int],
) -> Scored:
    states = states_with(checkpoint, sources, targets, groups, tensors)
    log_probs, best = judged(checkpoint, states, [targets, *([foils] if foils else [])])
    return Scored(log_probs[0], best, log_probs[1] if foils else None)


@torch.inference_mode()
def judged(
    checkpoint: Checkpoint, states: Tensor, targets: Sequence[Sequence[int]]
) -> tuple[Tensor, Tensor]:
    """Judge the decoder's last states [N, T, D] of a model of ours, some cells at a time.

    targets: M tokens for each place -> their log-probabilities [M, N, T], and the most probable
    tokens [N, T], on the CPU.
    """
    model: Any = checkpoint.model
    ids = torch.tensor(targets, device=states.device).mT.repeat(len(states), 1)  # [N T, M]
    parts = [
        _judged(at_least_single(model.logits(x)), some)
        for x, some in zip(states.flatten(0, 1).split(CELLS), ids.split(CELLS), strict=True)
    ]
    log_probs, best = (torch.cat(each).cpu() for each in zip(*parts, strict=True))
    return log_probs.mT.unflatten(-1, states.shape[:2]), best.view(states.shape[:2])


@torch.inference_mode()
def states_with(
    checkpoint: Checkpoint,
    sources: Sequence[int],
    targets: Sequence[int],
    groups: Sequence[Group],
    tensors: Mapping[Edit, Tensor],
) -> Tensor:
    """The decoder's last states [N, T, D], which the target is written from: a row per group.

    tensors: what edits refer to.
    """
    model: Any = checkpoint.model
    family = checkpoint.family
    source = torch.tensor([sources], device=checkpoint.device)
    read = torch.tensor([targets], device=checkpoint.device)[:, :-1]
    tried = [tuple(group) for group in groups]
    early = {group: _within(group, "encoder_self") for group in tried}
    if "encoder_self" in family.attentions:
        reading = Growing({each: _first(each) for each in early.values()}, tensors)
        with editing(model, family, reading):
            state = model.start(source)
        read = torch.cat([model.first(source), read], 1)
    else:
        state, read = model.nothing_read(), torch.cat([source, read], 1)
    # What reads another memory is another row from the first layer on.
    writing = Growing({it: 0 if early[it] else _first(it) for it in tried}, tensors)
    for cache in state.caches:
        if cache.cross is not None:
            memories = [reading.rows.index(early.get(row, ())) for row in writing.rows]
            cache.reorder(torch.tensor(memories, device=checkpoint.device))
    with editing(model, family, writing):
        states: Tensor = model.read(state, read)
    wanted = [writing.rows.index(group) for group in tried]
    return states[wanted, -len(targets) :]


def _within(group: Group, place: str) -> tuple[Edit, ...]:
    return tuple(edit for edit in group if place in kinds_of(edit))


def _first(group: Group) -> int:
    """The first layer that is changed."""
    return min(map(first_layer, group), default=0)


def _judged(logits: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Log-probabilities of ids [N, M], the most probable [N], of logits [N, V], which are lost."""
    largest, best = logits.max(-1, keepdim=True)
    own = logits.gather(-1, ids) - largest
    return own - logits.sub_(largest).exp_().sum(-1, keepdim=True).log(), best[:, 0]


# The effect of a change of a model on its output: log-probabilities, and words that differ.


@dataclass(frozen=True)
class WordChange:
    """A word of an output, and how likely it was before a change of the model and after it."""

    word: str
    before: float
    """Its log-probability in nats: the sum over its pieces, each given those before it."""
    after: float

    @property
    def gain(self) -> float:
        """In nats; negative where the change made the word less likely."""
        return self.after - self.before


def log_probabilities(recording: Recording) -> Tensor:
    """Return each target token's log-probability, given all before it: float64 [T], in nats."""
    ids = [token.id for token in recording.target]
    chosen = recording.require_logits().cpu().double().log_softmax(-1)
    return chosen[range(len(ids)), ids]


def word_changes(before: Recording, after: Recording) -> list[WordChange]:
    """Compare each word of the target that both recordings were made to read.

    Raises ValueError where these are different targets.
    """
    if before.target != after.target:
        raise ValueError("log-probabilities are compared of one and the same target")
    log_probs = map(word_log_probabilities, (before, after))
    return [
        WordChange(word.text, old, new)
        for word, old, new in zip(before.target_words, *log_probs, strict=True)
    ]


def filled_changes(output: Output, before: Recording, after: Recording) -> list[WordChange]:
    """Compare each word that a masked model fills in or sees."""
    old, new = (scores_in(each, output)[0] for each in (before, after))
    return [
        WordChange(word, float(old[group].sum()), float(new[group].sum()))
        for word, group in zip(output.texts_of(output.words), output.groups, strict=True)
    ]


def word_log_probabilities(recording: Recording) -> list[float]:
    """Return each target word's log-probability in nats: the sum over its pieces."""
    pieces = log_probabilities(recording)
    return [float(pieces[list(word.positions)].sum()) for word in recording.target_words]


def differing(words: Sequence[str], other: Sequence[str]) -> list[bool]:
    """Mark words that another text lacks if it is aligned to this one by its longest common parts.

    >>> differing("weil es zu müde war".split(), "weil er zu müde war".split())
    [False, True, False, False, False]
    """
    blocks = SequenceMatcher(None, words, other, autojunk=False).get_matching_blocks()
    same = {i for block in blocks for i in range(block.a, block.a + block.size)}
    return [i not in same for i in range(len(words))]


def exchanged(words: Sequence[str], other: Sequence[str]) -> list[tuple[list[str], list[str]]]:
    """Pair words with what stands for them in another text, part by part; nothing that is kept.

    >>> exchanged("weil es zu müde war".split(), "weil er müde war".split())
    [(['es', 'zu'], ['er'])]
    """
    codes = SequenceMatcher(None, words, other, autojunk=False).get_opcodes()
    return [(list(words[a:b]), list(other[c:d])) for code, a, b, c, d in codes if code != "equal"]
