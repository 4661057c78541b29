"""DecoderLens: the text that is written where the decoder reads a lower layer of the encoder."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp
from typing import Any

from transformer import Recording, record
from transformer.analysis.output_change import word_log_probabilities
from transformer.causes.decoder_lens import with_encoder_layers
from transformer.decoding.decode import decode
from transformer.decoding.options import MAX_LEN
from transformer.visible import visible
from transformer.words import word_groups, words_of
from viz.app_packages import st
from viz.exhibits.exhibit import Exhibit
from viz.exhibits.words import Line, Span, Words
from viz.fields.decode import DecodeFields
from viz.labels import literal, percent
from viz.run.batches import Runner
from viz.run.growth import Growth
from viz.run.request import Request, answer
from viz.run.study import Study
from viz.state.page import Pane
from viz.state.state import change
from viz.ui.showing import show_declared

TITLE = "Written from each encoder layer"
HELP = (
    "DecoderLens: what is written when the decoder reads a lower layer of the encoder, once for "
    "each layer."
)
FOOT = (
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
        pairs = zip(words_of(target), word_log_probabilities(recording), strict=True)
        is_word = [not target[group[0]].special for group in word_groups(target)]
        words = [(word, exp(value)) for (word, value), it in zip(pairs, is_word, strict=True) if it]
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
    """The texts, once it is asked for and where a decoder reads an encoder's layers."""
    if not pane.screen.of(DecodeFields).decoder_lens or why_not(pane) is not None:
        return {}
    study = EncoderLayers(pane.answer.request.of_search)  # a branch was written by no layer
    return {"layers": Growth(TITLE, study, _exhibit, is_main=False)}


def encoder_layers(pane: Pane) -> None:
    """The button, and the texts below it while it is open."""
    if pane.answer.decoding is None or "cross" not in pane.checkpoint.family.attentions:
        return
    is_open, why = pane.screen.of(DecodeFields).decoder_lens, why_not(pane)
    st.button(
        TITLE,
        on_click=change,
        kwargs={"decoder_lens": not is_open},
        icon=f":material/{'expand_less' if is_open else 'expand_more'}:",
        help=literal(why or HELP),
        disabled=why is not None,
    )
    show_declared(pane, layers_exhibit)


def why_not(pane: Pane) -> str | None:
    """Say why the layers of this model's encoder cannot be read one by one; None: they can."""
    family = pane.checkpoint.family
    if family.is_watched or family.reads != "source" or pane.answer.decoding is None:
        return "Only of encoder-decoders that are built here a lower layer can be read."
    if pane.answer.request.edits:
        return "This is of the model as it is: take the edits back first."
    return None


def _exhibit(texts: tuple[Lower, ...]) -> Exhibit:
    lines = [Line(_spans(each), _layers(n)) for n, each in enumerate(texts)]
    return Exhibit(f"{TITLE} (DecoderLens)", Words(lines, [Span(FOOT)]), is_main=False)


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
