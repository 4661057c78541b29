"""Every kind of picture as a figure, of short words, long ones, and those that mean something."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from urllib.parse import urlencode

import pytest
import torch

from tests.conftest import SENTENCES
from tests.representatives import cases
from transformer.checkpoint import About
from transformer.complexity import Sizes
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.formats.headscope import save_checkpoint
from transformer.tokenizer import SentencePieceTokenizer
from viz.figure_at import page_of
from viz.figures.costs import cost_chart
from viz.painters.chart_sheet import sheet as sheet_of
from viz.paper.figure import COLUMN, PAGE, Figure
from viz.paper.record import address_of
from viz.paper.sheet import SMALL, Sheet, Words, width_of
from viz.theme import LIGHT
from viz.ui.saving import figure_of

SHORT = "a b c d"
LONG = "Electroencephalographically"
MANY = " ".join(["a"] * 40)
NASTY = '<script>alert(1)</script> "onload=x ]]> =1+1 %s a\u202eb'
TEXTS = {"short": SHORT, "long": f"{LONG} {NASTY}", "many": MANY}
CHOSEN = {
    "explore": (
        "",
        "heads=0,1&pins=q1,k0",
        "picture=map",
        "picture=map&lens=score&tokens=pieces",
        "picture=inside&cell=1,1",
        "show=entropy&sort=entropy&top=3",
    ),
    "compare": ("picture=map&edited_b=yes&same_head=yes&edits=head-off:cross.0.1",),
    "decode": ("step=1",),
    "sweep": ("sweep_sort=layer", "sweep_pairs=3", "sweep_over=sentences", "experiment=patch"),
    "positions": ("view=encoding_heatmap", "view=lab&edits=positions-shift:source=3"),
    "inspect": ("inspect=tensor", "inspect=circuits&kind_circuit=encoder_self"),
    "masks": ("masks=textbook", ""),
    "training": ("topic=smoothing",),
}
"""Page -> what is chosen there beside a text."""


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A checkpoint with random weights whose tokenizer knows all of these texts."""
    folder = tmp_path_factory.mktemp("named")
    tokenizer = SentencePieceTokenizer.train([*TEXTS.values(), *SENTENCES], 320)
    torch.manual_seed(0)
    config = ModelConfig(
        vocab_size=tokenizer.vocab_size,
        d_model=16,
        d_ff=32,
        n_heads=2,
        n_encoder_layers=2,
        n_decoder_layers=2,
        max_len=90,
    )
    model = discover("transformer.models", "FAMILY")[config.family].build(config)
    about = About("Random weights", "none", "sentencepiece", (SHORT,))
    save_checkpoint(folder / "random", about, config, model.state_dict(), tokenizer)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEADSCOPE_CHECKPOINTS", str(folder))
        yield "random"


def pictures(checkpoint: str, text: str) -> Iterator[tuple[str, Figure]]:
    """Address and name, and figure, of all that is drawn of a text."""
    more = {"circuit_words": text, "mask_text": text, "sweep_sentences": f"{text}\n{text}"}
    for page, each in CHOSEN.items():
        for chosen in each:
            said = address_of(f"./{page}?{chosen}&{urlencode(more)}")
            pane, figures = page_of(replace(said, checkpoint=checkpoint, text=text))
            for name, shown in figures.items():
                yield f"{page} {chosen} {name}", figure_of(pane, shown, name=name)


def box(words: Words) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of a text, as DejaVu Sans has ascenders and descenders."""
    wide = width_of(words.text, words.size, words.is_bold)
    before = {"start": 0.0, "middle": wide / 2, "end": wide}[words.anchor]
    up, down = 0.76 * words.size, 0.24 * words.size
    if words.is_upward:
        return words.x - up, words.y + before - wide, words.x + down, words.y + before
    return words.x - before, words.y - up, words.x - before + wide, words.y + down


def outside(sheet: Sheet) -> list[str]:
    found = []
    for words in sheet.marks:
        if isinstance(words, Words) and words.text:
            left, top, right, bottom = box(words)
            if min(left, top, sheet.width - right, sheet.height - bottom) < -0.01:
                found.append(words.text)
    return found


@pytest.mark.parametrize(
    "of", cases(TEXTS, {"words that are cut, and what is escaped": "long", "no room": "many"})
)
def test_all_text_lies_within_the_page_and_can_be_read(named: str, of: str) -> None:
    found, n = [], 0
    for where, figure in pictures(named, TEXTS[of]):
        for width in (COLUMN, PAGE):
            sheet = figure.sheet(width)
            small = {it.text for it in sheet.marks if isinstance(it, Words) and it.size < SMALL}
            found += [(where, width, *each[:3]) for each in (outside(sheet), [*small]) if each]
            n += 1
    assert n > 50 and not found


def test_numbers_below_a_narrow_chart_do_not_run_into_each_other() -> None:
    chart = cost_chart("longest_path", Sizes(), 30, has_legend=True)
    for width in range(110, 300, 5):
        words = [mark for mark in sheet_of(chart, LIGHT, width).marks if isinstance(mark, Words)]
        rows: dict[float, list[tuple[float, float, float, float]]] = {}
        for each in words:
            if each.size == SMALL and each.anchor == "middle" and not each.is_upward:
                rows.setdefault(each.y, []).append(box(each))
        for boxes in rows.values():
            ends = sorted((left, right) for left, _, right, _ in boxes)
            assert all(a[1] < b[0] for a, b in pairwise(ends)), width
