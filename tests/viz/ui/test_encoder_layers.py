"""DecoderLens on Decode: the texts that each encoder layer gives, with their probabilities."""

from math import log

import pytest

from transformer.causes.direct import decoder_lens
from viz.exhibits.exhibit import Words
from viz.figure_at import page_of
from viz.screen import parse

SMOKING = "He gave up smoking two years ago."
PAGE = {"page": "decode", "checkpoint": "en-de", "text": SMOKING, "decoding": "greedy"}


def test_each_layer_has_its_text() -> None:
    pane, figures = page_of(parse({**PAGE, "decoder_lens": "yes"}))
    content = figures["layers"].content
    assert isinstance(content, Words)
    embeddings, *others = content.lines
    wanted = decoder_lens(pane.checkpoint, SMOKING)[1:]
    texts = [" ".join(span.text for span in line.spans).replace(" .", ".") for line in others]
    assert texts == [each.text for each in wanted]
    assert embeddings.spans[-1].text == "…" and others[-1].spans[-1].text != "…"
    assert pane.answer.decoding is not None
    logs = [log(span.value) for span in others[-1].spans if span.value is not None]
    total = pane.answer.decoding.hypotheses[0].log_prob
    assert sum(logs) == pytest.approx(total, abs=0.2)  # the end has a part of it


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"checkpoint": "everyday", "text": "She said", "decoder_lens": "yes"},
        {"decoder_lens": "yes", "edits": "head-off:cross.2.0"},
    ],
)
def test_there_are_none_unasked_or_without_layers_below(choices: dict[str, str]) -> None:
    assert "layers" not in page_of(parse({**PAGE, **choices}))[1]
