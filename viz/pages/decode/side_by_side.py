"""Texts beside each other: by several methods, and written from lower layers."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import exp
from typing import Any

from transformer import Recording, record
from transformer.analysis.scored import differing, word_log_probabilities
from transformer.causes.direct import with_encoder_layers
from transformer.causes.prefix import Parting, partings
from transformer.causes.repairs import other_methods
from transformer.decoding import decoding_methods
from transformer.decoding.decode import decode
from transformer.decoding.method import MAX_LEN
from transformer.inputs import InputError
from transformer.refusal import visible
from transformer.words import words_of
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit, Line, Span, Words
from viz.exhibits.table import Cell, Column, Row, Table
from viz.labels import counted, escaped, number, percent
from viz.run.line import Runner
from viz.run.request import Request, answer
from viz.run.work import Growth, Study, finish
from viz.screen import Screen, choose, link
from viz.state.page import Pane
from viz.state.requests import request_of
from viz.ui.parts import Part, folded
from viz.ui.showing import show_all

# Decoding methods side by side: their texts, and the probability that each gives the rest.

TITLE = "Methods side by side"
HELP = (
    "The text by each decoding method, aligned with this one, and the probability that each gives "
    "the words of the other."
)
FOOT = "Below each word: its probability, given all before it. Words that the first text lacks are"
PARTINGS = "Words that stand for each other"


@dataclass(frozen=True)
class OtherText:
    """The text of another request for the same source."""

    name: str
    words: tuple[str, ...]
    log_probs: tuple[float, ...]
    partings: tuple[Parting, ...]
    """The places where it parts from the first one; none for that itself."""
    refusal: str = ""
    """The sentence why there is no such text; empty: there is."""

    @property
    def log_prob(self) -> float:
        return sum(self.log_probs)


@dataclass(frozen=True)
class SideBySide(Study[tuple[OtherText, ...]]):
    """The texts of several requests for one source, the first being the one on the page."""

    request: Request
    others: tuple[Request, ...]

    def run(
        self, before: tuple[OtherText, ...] | None, runner: Runner
    ) -> Iterator[tuple[OtherText, ...]]:
        """Raises InputError."""
        first, done = answer(self.request, runner), before or ()
        steps = runner.steps(first.checkpoint.model)
        target = first.recording.target
        for request in (self.request, *self.others)[len(done) :]:
            name = _name(request, self.request)
            parts: list[Parting] = []
            try:
                made = finish(request, runner)
            except InputError as error:  # of this method alone: the others have their texts
                done = (*done, OtherText(name, (), (), (), str(error)))
                yield done
                continue
            if request != self.request:
                other, edits = made.recording.target, request.edits
                inputs = first.checkpoint, request.text, target, other, edits, steps.give_way
                with steps.one():
                    parts = partings(*inputs)
            words = tuple(words_of(made.recording.target))
            log_probs = tuple(word_log_probabilities(made.recording))
            done = (*done, OtherText(name, words, log_probs, tuple(parts)))
            yield done

    def progress(self, value: tuple[OtherText, ...]) -> tuple[int, int]:
        return len(value), 1 + len(self.others)

    def n_read(self, value: tuple[OtherText, ...]) -> int:
        return sum(1 + 4 * len(each.partings) for each in value)


def _methods(pane: Pane) -> dict[str, Growth[Any]]:
    """The texts and where they part."""
    study = SideBySide(pane.answer.request, _others(pane))
    grown = {"methods": _texts, "partings": _table}
    return {name: Growth("", study, it, is_main=False) for name, it in grown.items()}


def _draw_methods(pane: Pane) -> None:
    if show_all(pane, _methods(pane)):
        st.html(_compare_links(pane))


def _compare_links(pane: Pane) -> str:
    """HTML: the way to Compare, where B writes by another method."""
    links = (
        f'<a data-state href="{escaped(link(_compared(pane, it.method)))}">'
        f"{escaped(decoding_methods()[it.method].title)}</a>"
        for it in other_methods(pane.answer.request.method)
    )
    return f"<p>Attention beside attention, on Compare: {' · '.join(links)}</p>"


def _compared(pane: Pane, method: str) -> Screen:
    """The screen of Compare where B writes by another method."""
    return choose(pane.screen, page="compare", method_b=method, same_head=True, side_by_side=False)


def _others(pane: Pane) -> tuple[Request, ...]:
    """The requests of the other methods, each with its usual options, behind what the one in use
    chose itself, where a branch of it is shown, and what it writes where nothing is decided. A
    phrase is forced where a method finds it a place.
    """
    request = pane.answer.request
    by = partial(request_of, request.checkpoint, request.text)
    screens = [
        choose(pane.screen, decoding=it.method, options=()) for it in other_methods(request.method)
    ]
    placed = {name for name, method in decoding_methods().items() if method.places}
    screens = [it if it.decoding in placed else choose(it, force=()) for it in screens]
    same = dict.fromkeys((request.of_search, request.unconstrained))
    return (*(it for it in same if it != request), *map(by, screens))


def _name(request: Request, first: Request) -> str:
    """The method, and what is decided for it. first: the request on the page."""
    title = "Branch" if request.branch else decoding_methods()[request.method].title
    if not request.constraints:
        return title
    is_less = bool(first.constraints.force) and not request.constraints.force
    return f"{title}, corrected, without forced words" if is_less else f"{title}, corrected"


def _texts(texts: tuple[OtherText, ...]) -> Exhibit:
    first = texts[0]
    lines = []
    for each in texts:
        if each.refusal:
            lines.append(Line([Span(each.refusal)], each.name))
            continue
        is_new = differing(each.words, first.words)
        spans = [
            Span(
                visible(word), percent(exp(value)), exp(value), "probability", "new" if new else ""
            )
            for word, value, new in zip(each.words, each.log_probs, is_new, strict=True)
        ]
        lines.append(Line(spans, f"{each.name}, {number(each.log_prob)} nats"))
    return Exhibit(TITLE, Words(lines, [Span(FOOT), Span("marked.", role="new")]), is_main=False)


def _table(texts: tuple[OtherText, ...]) -> Exhibit:
    first, *others = texts
    columns = [
        Column("Method"),
        Column("Here"),
        Column("There"),
        Column("Here, of its word"),
        Column("Here, of the other"),
        Column("There, of its word"),
        Column("There, of the other"),
    ]
    rows = [
        Row(Cell(other.name), _cells(it), is_first=number_of == 0)
        for other in others
        for number_of, it in enumerate(other.partings)
    ]
    foot = (
        f"Here is the text by {first.name.lower()}, there the other method’s. Each probability is "
        "the model’s own, given the source and all words before it in the text that is read."
    )
    if not rows:
        foot = "No word of another method stands in the place of one here."
    n = len(rows)
    says = f"In {counted(n, 'place', 'places')} another method has another word than "
    says += f"{first.name.lower()}."
    return Exhibit(PARTINGS, Table(PARTINGS, columns, rows, foot=foot), says, is_main=False)


def _cells(it: Parting) -> list[Cell]:
    return [
        Cell(visible(it.word)),
        Cell(visible(it.other)),
        *(
            Cell(percent(exp(value)), exp(value))
            for value in (it.log_prob, it.other_here, it.other_log_prob, it.word_there)
        ),
    ]


METHODS = folded(
    Part(TITLE, _methods, draw=_draw_methods),
    "side_by_side",
    HELP,
    is_offered=lambda pane: pane.answer.decoding is not None,
)


# DecoderLens: the text that is written where the decoder reads a lower layer of the encoder.

LAYERS_TITLE = "Written from each encoder layer"
LAYERS_HELP = (
    "DecoderLens: what is written when the decoder reads a lower layer of the encoder, once for "
    "each layer."
)
LAYERS_FOOT = (
    "The decoder reads what the encoder holds after this many layers (DecoderLens, Langedijk et "
    "al. 2024). It was trained to read the last ones only: this shows what layers add, and proves "
    "nothing. Below each word: its probability, given all before it. A text without an end has …"
)
ROOM = 6
"""Tokens that a lower layer may write beyond the whole's number: of embeddings many never end."""


@dataclass(frozen=True)
class Lower:
    """The text that is written of some layers."""

    words: tuple[str, ...]
    """Without the special token that ends it."""
    probs: tuple[float, ...]
    """The probability that the decoder gave each, given all before it."""
    has_ended: bool

    @classmethod
    def of(cls, recording: Recording) -> "Lower":
        """The text of a forced pass."""
        target = recording.target
        pairs = zip(recording.target_words, word_log_probabilities(recording), strict=True)
        words = [(it.text, exp(value)) for it, value in pairs if not it.tokens[0].special]
        has_ended = bool(target) and target[-1].special
        return cls(tuple(word for word, _ in words), tuple(it for _, it in words), has_ended)


@dataclass(frozen=True)
class EncoderLayers(Study[tuple[Lower, ...]]):
    """A request's text decoded of 0, 1, 2, ... layers of the encoder."""

    request: Request

    def run(self, before: tuple[Lower, ...] | None, runner: Runner) -> Iterator[tuple[Lower, ...]]:
        """Raises InputError."""
        plain, done = answer(self.request, runner), before or ()
        options: dict[str, Any] = dict(self.request.options)
        options |= self.request.decided
        options[MAX_LEN.name] = len(plain.recording.target) + ROOM
        steps = runner.steps(plain.checkpoint.model)
        n_layers = plain.recording.attentions["encoder_self"].n_layers
        for n in range(len(done), n_layers):
            with steps.one():
                lower = with_encoder_layers(plain.checkpoint, n)
                choices = (self.request.text, self.request.method)
                target = decode(lower, *choices, on_step=steps.give_way, **options).target
                done = (*done, Lower.of(record(lower, self.request.text, target)))
            yield done
        yield (*done, Lower.of(plain.recording))

    def progress(self, value: tuple[Lower, ...]) -> tuple[int, int]:
        n_layers = answer(self.request).recording.attentions["encoder_self"].n_layers
        return len(value), n_layers + 1

    def n_read(self, value: tuple[Lower, ...]) -> int:
        return len(value)


def layers_exhibit(pane: Pane) -> dict[str, Growth[Any]]:
    """The texts, as they are written."""
    study = EncoderLayers(pane.answer.request.of_search)  # a branch was written by no layer
    return {"layers": Growth(LAYERS_TITLE, study, _exhibit, is_main=False)}


def _have_encoder(pane: Pane) -> bool:
    return pane.answer.decoding is not None and "cross" in pane.checkpoint.family.attentions


def _why_not(pane: Pane) -> str | None:
    """Say why the layers of this model's encoder cannot be read one by one; None: they can."""
    family = pane.checkpoint.family
    if family.is_watched or family.reads != "source" or pane.answer.decoding is None:
        return "Only of encoder-decoders that are built here a lower layer can be read."
    if pane.answer.request.edits:
        return "This is of the model as it is: take the edits back first."
    return None


def _exhibit(texts: tuple[Lower, ...]) -> Exhibit:
    lines = [Line(_spans(each), _layers(n)) for n, each in enumerate(texts)]
    return Exhibit(
        f"{LAYERS_TITLE} (DecoderLens)", Words(lines, [Span(LAYERS_FOOT)]), is_main=False
    )


def _layers(n: int) -> str:
    """
    >>> _layers(0), _layers(1), _layers(2)
    ('embeddings', '1 layer', '2 layers')
    """
    return "embeddings" if n == 0 else f"{n} layer{'s' * (n > 1)}"


def _spans(text: Lower) -> list[Span]:
    """Its words without the end; of a text that has none three points."""
    spans = [
        Span(visible(word), percent(prob), prob, "probability")
        for word, prob in zip(text.words, text.probs, strict=True)
    ]
    return spans if text.has_ended else [*spans, Span("…")]


LAYERS = folded(
    Part(LAYERS_TITLE, layers_exhibit, grows=True),
    "decoder_lens",
    LAYERS_HELP,
    _have_encoder,
    _why_not,
)
