"""The places in a text of tokens that a model wrote, or that a sweep judges: columns of files."""

from collections.abc import Sequence

from transformer.analysis.outputs.output import Output
from transformer.analysis.tables.origins import Columns, Side, Sides
from transformer.recording import Attention, Recording
from transformer.token import Token


def writing_at(recording: Recording, written: Sequence[Token]) -> list[Columns]:
    """Each token that was written last, with the one that was read then."""
    decoder = _decoder(recording)
    start = 0 if decoder is None else len(decoder.queries) - len(written)
    return _written(decoder, written, start)


def judged_at(output: Output, recording: Recording) -> list[Columns]:
    """The columns of each token, class or number of an output. recording: of the same text."""
    if output.classes:
        return [{"class": name} for name in output.classes]
    if output.numbers:
        return [{"number": name} for name in output.numbers]
    if output.vector is not None:
        return [{}]
    if output.places:
        read, words = Side("query", recording.source), Side("written", output.words)
        return [read.at([place]) | words.text_at([i]) for i, place in enumerate(output.places)]
    if output.target is None:  # each word of a text that is only read follows its first token
        return _written(_decoder(recording), output.words, 0)
    return writing_at(recording, output.words)


def _decoder(recording: Recording) -> Attention | None:
    return next((each for each in recording.attentions.values() if each.is_decoder), None)


def _written(decoder: Attention | None, written: Sequence[Token], start: int) -> list[Columns]:
    """start: the query that wrote the first one."""
    text = Side("written", written)
    if decoder is None:
        return [text.at([i]) for i in range(len(written))]
    sides = Sides(decoder)
    return [sides.query(start + i) | text.text_at([i]) for i in range(len(written))]
