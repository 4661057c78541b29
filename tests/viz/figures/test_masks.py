"""The pictures of masks: what their cells, counts and words say."""

import numpy as np
import pytest
import torch
from plotly.graph_objects import Figure

from transformer.batch_masks import SentenceMasks, batch_masks
from transformer.recording import Recording
from transformer.token import Token
from viz.figures.masks import MOST_COLUMNS, STATES, Picture, Which, chart, small
from viz.painters.chart_plotly import figure as paint
from viz.theme import DARK, LIGHT, Theme

PAD = Token(0, "<pad>", special=True)
both_themes = pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)


@pytest.fixture
def short(recorder) -> SentenceMasks:
    """Four tokens beside a sentence of six: two of padding."""
    recordings: list[Recording] = [recorder(6, 6), recorder(4, 4)]
    return batch_masks([each.attentions["decoder_self"] for each in recordings], PAD)[1]


def picture(masks: SentenceMasks, which: Which) -> Picture:
    return Picture(masks, which, "Title", f"masks {which}")


def cells_of(figure: Figure) -> dict[str, np.ndarray]:
    """Words -> the cells that say them."""
    return {sheet.name: np.nan_to_num(sheet.z) == 1 for sheet in figure.data}


@pytest.mark.parametrize("make", [chart, small])
def test_every_cell_says_what_forbids_it(short: SentenceMasks, make) -> None:
    cells = cells_of(paint(make(picture(short, "combined")), LIGHT))
    for i in range(6):
        for j in range(6):
            said = [words for words, sheet in cells.items() if sheet[i, j]]
            assert said == [STATES[(j >= 4) + 2 * (j > i)]]


def test_a_single_mask_speaks_for_itself(short: SentenceMasks) -> None:
    assert list(cells_of(paint(chart(picture(short, "padding")), LIGHT))) == [STATES[0], STATES[1]]
    subsequent = cells_of(paint(chart(picture(short, "subsequent")), LIGHT))
    assert list(subsequent) == [STATES[0], STATES[2]]
    assert np.array_equal(subsequent[STATES[2]], ~short.subsequent.numpy())


def test_counts_are_those_of_loops(short: SentenceMasks) -> None:
    later = [(i, j) for i in range(6) for j in range(6) if j > i]
    padding = [(i, j) for i in range(6) for j in (4, 5)]
    for which, n in (
        ("padding", len(padding)),
        ("subsequent", len(later)),
        ("combined", len({*later, *padding})),
    ):
        shown = picture(short, which)
        assert shown.count == f"{n} of 36 cells forbidden"
        assert shown.count in paint(chart(shown), LIGHT).layout.title.text
        assert shown.count in paint(small(shown), LIGHT).layout.title.text
        assert shown.describe().startswith("Title, 36 cells: ")
        assert shown.describe().endswith(".")


@both_themes
def test_hovering_names_both_tokens(short: SentenceMasks, theme: Theme) -> None:
    figure = paint(chart(picture(short, "combined")), theme)
    assert figure.data[1].hovertemplate == f"%{{y}} → %{{x}}: {STATES[1]}<extra></extra>"
    assert figure.layout.xaxis.ticktext[-1] == f'<span style="color:{theme.dim}">&lt;pad&gt;</span>'
    assert figure.layout.paper_bgcolor == theme.background


@both_themes
def test_pieces_show_literally(nasty: Recording, theme: Theme) -> None:
    masks = batch_masks([nasty.attentions["cross"]], PAD)[0]
    for make in (chart, small):
        assert "<script" not in str(
            paint(make(picture(masks, "combined")), theme).layout.xaxis.ticktext
        )


def test_a_long_sentence_labels_some_columns_and_hovers_on_all(recorder) -> None:
    masks = batch_masks([recorder(40, 40).attentions["decoder_self"]], PAD)[0]
    figure = paint(chart(picture(masks, "combined")), LIGHT)
    assert len(figure.layout.xaxis.ticktext) == 40 and not figure.layout.xaxis.showticklabels
    assert len(figure.layout.xaxis2.ticktext) <= MOST_COLUMNS
    assert figure.layout.yaxis.showticklabels


def test_large_cells_are_square_and_frame_and_labels_end_with_them(recorder) -> None:
    masks = batch_masks([recorder(40, 40).attentions["decoder_self"]], PAD)[0]
    layout = paint(chart(picture(masks, "combined")), LIGHT).layout
    assert layout.yaxis.scaleanchor == "x"
    for axis in (layout.xaxis, layout.xaxis2, layout.yaxis):
        assert axis.constrain == "domain"
    assert layout.xaxis.showline and not layout.xaxis2.showline


# Machado, Oliveira and Fernandes (2009), severity 1: what the eye makes of linear RGB.
SIGHT = {
    "full": torch.eye(3),
    "protan": torch.tensor(
        [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]]
    ),
    "deutan": torch.tensor(
        [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]
    ),
    "tritan": torch.tensor(
        [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]
    ),
}


def seen(colour: str, sight: torch.Tensor) -> torch.Tensor:
    """The colour in sRGB, 0 to 1, as somebody of this sight sees it."""
    srgb = torch.tensor([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = torch.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    mixed = (sight @ linear).clamp(0, 1)
    return torch.where(mixed <= 0.0031308, 12.92 * mixed, 1.055 * mixed ** (1 / 2.4) - 0.055)


@both_themes
@pytest.mark.parametrize("sight", SIGHT.values(), ids=SIGHT)
def test_the_colours_part_for_every_sight(theme: Theme, sight: torch.Tensor) -> None:
    colours = torch.stack([seen(colour, sight) for colour in theme.mask_colours])
    distances = torch.cdist(colours, colours) + torch.eye(5)
    assert distances.min() > 0.2
