"""A word as far as it is written: the name of a step and its candidates where words are shown."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from transformer.analysis.reading import AttentionMap, Group, Reading, merge, read
from transformer.decoding import Candidate, Decoding, Step
from transformer.decoding.coverage import received
from transformer.inputs import InputError
from transformer.recording import Recording
from transformer.token import Token
from transformer.words import CONTINUES, word_groups
from viz.components.kit.browser import Component, digest, envelope, pack, pieces, pieces_of_words
from viz.components.kit.picture import place_in
from viz.components.kit.sync import mountable
from viz.labels import in_word, kind_name, label, percent, word_label, word_text
from viz.sentence import weight_wording
from viz.theme import Theme

MOST = 12
"""Characters of a word: those at its end, which differ."""
MOST_BEFORE = 32
"""Tokens among which the beginning of a word is looked for."""
CUT_SHORT = "\ufffd"
"""The sign of bytes that end no character."""


def is_part(token: Token) -> bool:
    """Tell whether a token begins no word, whatever stands before it.

    >>> is_part(Token(3, "ked")), is_part(Token(2, "▁na")), is_part(Token(4, "<0xC3>"))
    (True, False, True)
    """
    is_joined = token.begins is False or token.byte is not None
    return is_joined or word_label(token).startswith(("·", CONTINUES))


def word_so_far(before: Sequence[Token], token: Token) -> str:
    """The word that a token would make of those before it, as far as it then stands.

    One that begins a word is by itself. So is a byte that ends no character, as its piece.

    >>> word_so_far([Token(2, "▁na")], Token(3, "ked")), word_so_far([], Token(3, "ked"))
    ('naked', '·ked')
    """
    alone = word_label(token)
    if not is_part(token):
        return alone
    tokens = (*before[-MOST_BEFORE:], token)
    group = word_groups(tokens)[-1]
    text = word_text([tokens[i] for i in group])
    if len(group) == 1 or CUT_SHORT in text:
        return alone
    return text if len(text) <= MOST else f"…{text[1 - MOST :]}"


# Decoding step by step, played in the browser.

DECODE_PLAYER = Component("decode_player")
decode_player = mountable(DECODE_PLAYER)
"""on_step: the step, as in `data`; on_branch: the ids of what is written up to a candidate;
on_write: another word (text) in the place of that of a position among ids."""


@dataclass(frozen=True)
class DecodePlayer:
    """A decoding, step by step."""

    layer: int = 0
    head: int | None = None
    """None: the mean of the layer's heads."""
    words: bool = False
    """Columns are words, each with the sum over its pieces; rows are steps all the same, each by
    the word as far as it is written."""
    component: ClassVar[Component] = DECODE_PLAYER

    def title(self, recording: Recording) -> str:
        heads = "mean of heads" if self.head is None else f"H{self.head}"
        return f"Decoding, L{self._number(recording)} {heads}"

    def payload(self, recording: Recording, decoding: Decoding | None = None) -> bytes:
        decoding = self._decoding(recording, decoding)

        def rows(kind: str) -> Tensor:
            """One row per step [T, K]: of a generator's text the last ones."""
            weights = recording.attentions[kind].weights(self.layer, self.head)
            mean = weights.mean(0) if self.head is None else weights
            return mean[-len(decoding.target) :]

        cross = rows("cross") if looks_at_source(recording) else None
        read = recording.attentions["decoder_self"].queries
        own = rows("decoder_self")
        whose = self._number(recording), self.head
        so_far = coverage_so_far(recording, self.layer) if cross is not None else None
        return pack_player(decoding, cross, own, read, *whose, self.words, so_far)

    def maps(self, recording: Recording) -> dict[str, AttentionMap]:
        """The map whose rows are the steps: of a generator's text the last ones."""
        kind = "cross" if looks_at_source(recording) else "decoder_self"
        map, n = read(recording, kind), len(recording.target)
        of = read(recording, kind, Reading(words=self.words))
        whole = replace(map, columns=of.columns, column_groups=of.column_groups)
        return {kind: replace(whole, rows=map.rows[-n:], row_groups=map.row_groups[-n:])}

    def data(self, payload: bytes, theme: Theme, *, step: int = 0, branches: bool = False) -> bytes:
        """step: the one that is shown, counted from 0; branches: whether a candidate can be gone
        on from.
        """
        return envelope(payload, theme, step=int(step), branches=branches)

    def says(self, recording: Recording, decoding: Decoding | None = None, **state: Any) -> str:
        """Describe the step that is shown, and the least sure one; counted from 1, as drawn."""
        decoding = self._decoding(recording, decoding)
        steps = decoding.steps
        least = min(range(len(steps)), key=lambda i: steps[i].chosen.prob)
        kind = "cross" if looks_at_source(recording) else "decoder_self"
        whose = "the mean of all heads" if self.head is None else f"H{self.head}"
        looks = f"{kind_name(kind)}, L{self._number(recording)}, {whose}"
        now = min(state.get("step", 0), len(steps) - 1)
        return (
            f"Step {now + 1} of {len(steps)} writes {_choice(decoding, now)}. The least sure is "
            f"step {least + 1}, {_choice(decoding, least)}. The map has the weights of {looks}, a "
            "row per step."
        )

    def _number(self, recording: Recording) -> int:
        return recording.attentions["decoder_self"].number(self.layer)

    def _decoding(self, recording: Recording, decoding: Decoding | None) -> Decoding:
        """Raises InputError where the recording is not of this decoding, and NoSuchHead."""
        kinds = [kind for kind in ("cross", "decoder_self") if kind in recording.attentions]
        if not looks_at_source(recording):
            kinds = kinds[-1:]
        if decoding is None or "decoder_self" not in kinds or recording.target != decoding.target:
            raise InputError(
                "This recording is not of that decoding: record the same source with "
                "decoding.target."
            )
        for kind in kinds:
            place_in(recording, kind, self.layer, self.head or 0)
        return decoding


def looks_at_source(recording: Recording) -> bool:
    """Say whether its cross-attention is over the source, not a memory of a model's own."""
    cross = recording.attentions.get("cross")
    return cross is not None and cross.keys == recording.source


def _choice(decoding: Decoding, step: int) -> str:
    word = in_word(decoding.target, step)
    return f"“{word}” with {percent(decoding.steps[step].chosen.prob)}"


def pack_player(
    decoding: Decoding,
    cross: ArrayLike | None,
    own: ArrayLike,
    read: Sequence[Token],
    layer: int,
    head: int | None,
    words: bool = False,
    so_far: ArrayLike | None = None,
) -> bytes:
    """A decoding with the exact weights of one head, or of a mean of heads.

    cross: [T, S] attention over the source; None for a generator, which reads source and target as
    one text. own: [T, R] attention over what was read; its row t may see the first R - T + t + 1.
    read: the R tokens that the decoder read: what it starts with (a token, or one more that names a
    language), or the source, and what was written. layer, head: whose weights they are, by
    the model's own numbers; head None: the mean of a layer's. words: columns are words.
    so_far: [T, S], what each source token has received after each step. Raises InputError when
    sizes differ.
    """
    own = np.asarray(own, "<f4")
    arrays = [own] if cross is None else [np.asarray(cross, "<f4"), own]
    n_source, n_target, n_read = len(decoding.source), len(decoding.target), len(read)
    n_before = n_source if cross is None else max(1, n_read - n_target + 1)
    shapes = [(n_target, n_read)] if cross is None else [(n_target, n_source), (n_target, n_read)]
    if [array.shape for array in arrays] != shapes or n_read != n_before + n_target - 1:
        raise InputError(
            f"weights {[array.shape for array in arrays]} do not fit "
            f"{n_source} source, {n_target} target and {n_read} read tokens."
        )
    prompt = decoding.source if cross is None else ()
    written = pieces_of_words((*prompt, *decoding.target), words)
    source = () if cross is None else decoding.source
    of_source, of_read = (_groups(tokens, words) for tokens in (source, read))
    groups = [of_read] if cross is None else [of_source, of_read]
    before = (*prompt, *decoding.target)
    steps = [
        _step(step, decoding.vocab_size, before[: len(prompt) + i] if words else None)
        for i, step in enumerate(decoding.steps)
    ]
    of_target = word_groups(decoding.target) if words else ()
    content = {
        "source": _names(source, of_source, words),
        "prompt": written[: len(prompt)],
        "target": written[len(prompt) :],
        "read": _names(read, of_read, words),
        "ids": [token.id for token in decoding.target],
        "steps": steps,
        "in_pieces": words
        and any(
            is_part(candidate.token) for step in decoding.steps for candidate in step.candidates
        ),
        "word_of": [number for number, group in enumerate(of_target) for _ in group],
    }
    whose = {
        "layer": layer,
        "head": head,
        "sentences": {
            "cross": asdict(weight_wording("cross", is_produced=True, is_mean=head is None)),
            "own": asdict(weight_wording("decoder_self", is_mean=head is None)),
        },
        "before": n_before,
        "columns": {"source": of_source, "read": of_read},
    }
    # Another head of the same decoding, or words for pieces, must not move the step that is shown.
    numbers = [(step["ids"], [candidate[2:] for candidate in step["candidates"]]) for step in steps]
    same = [token.id for token in (*decoding.source, *decoding.target)], numbers
    merged = [merge_columns(array, each) for array, each in zip(arrays, groups, strict=True)]
    if so_far is not None:
        merged.append(merge_columns(np.asarray(so_far, "<f4"), of_source))
    header = {"decoding": digest(json.dumps(same).encode()), "coverage": so_far is not None}
    return pack({**header, **whose, **content}, *merged)


def coverage_so_far(recording: Recording, layer: int) -> Tensor:
    """Add up what each source token receives until each step, in the mean of heads: [T, S]."""
    weights = recording.attentions["cross"].weights(layer).mean(0)
    return received(weights[-len(recording.target) :])


def _groups(tokens: Sequence[Token], words: bool) -> tuple[Group, ...]:
    """The positions that each column stands for."""
    return word_groups(tokens) if words else tuple((i,) for i in range(len(tokens)))


def _names(tokens: Sequence[Token], groups: Sequence[Group], words: bool) -> list[tuple[str, int]]:
    """Label and whether special, for each column; of words without the space before them."""
    if not words:
        return pieces(tokens)
    each = ([tokens[i] for i in group] for group in groups)
    return [(word_text(word), int(word[0].special)) for word in each]


def merge_columns(weights: NDArray[Any], groups: tuple[Group, ...]) -> NDArray[Any]:
    """[T, K] -> [T, groups]: the sum over the positions of each."""
    return merge(torch.from_numpy(np.array(weights)), groups, 1, "sum").numpy().astype("<f4")


def _step(step: Step, vocab_size: int, before: Sequence[Token] | None) -> dict[str, Any]:
    """One step; a chosen token that is not among the best is added below them.

    before: what stands there already, where words are shown.
    """
    ids = [candidate.token.id for candidate in step.candidates]
    candidates, rest = list(step.candidates), step.rest
    if step.chosen.token.id not in ids:
        candidates.append(step.chosen)
        rest = max(0.0, rest - step.chosen.prob)
    return {
        "candidates": [_candidate(candidate, before) for candidate in candidates],
        "ids": [candidate.token.id for candidate in candidates],
        "chosen": [candidate.token.id for candidate in candidates].index(step.chosen.token.id),
        "rest": round(rest, 6),
        "rest_text": percent(rest),
        "n_rest": vocab_size - len(candidates),
        "entropy": round(step.entropy, 4),
    }


def _candidate(candidate: Candidate, before: Sequence[Token] | None) -> tuple[str, int, float, str]:
    token, prob, after = candidate.token, candidate.prob, candidate.after
    text = percent(prob) if after is None else f"{percent(prob)} → {percent(after)}"
    name = label(token) if before is None else word_so_far(before, token)
    return name, int(token.special), round(prob, 6), text
