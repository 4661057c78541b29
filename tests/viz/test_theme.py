"""The colours: one look in Python and in Streamlit's configuration, readable and even."""

import tomllib
from pathlib import Path

import pytest

from viz.theme import DARK, LIGHT, SERIES, Theme, ramp

CONFIG = Path(__file__).parents[2] / ".streamlit" / "config.toml"


def luminance(colour: str) -> float:
    """Relative luminance (WCAG 2)."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def mixed(a: str, b: str, share: float) -> str:
    """`share` of colour a laid over colour b."""
    pairs = ((int(a[i : i + 2], 16), int(b[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(share * x + (1 - share) * y):02x}" for x, y in pairs)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_streamlit_is_configured_with_the_same_colours(theme: Theme) -> None:
    configured = tomllib.loads(CONFIG.read_text())["theme"][theme.name]
    assert configured == {
        "primaryColor": theme.accent,
        "backgroundColor": theme.background,
        "secondaryBackgroundColor": theme.surface,
        "textColor": theme.text,
    }


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_text_is_readable(theme: Theme) -> None:
    for colour in (theme.text, theme.dim, theme.accent):
        assert contrast(colour, theme.background) >= 4.5
    # Streamlit writes a chosen segment in the accent, on a tenth of it.
    assert contrast(theme.accent, mixed(theme.accent, theme.background, 0.1)) >= 4.5


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_a_masked_cell_is_not_on_the_attention_scale(theme: Theme) -> None:
    assert theme.masked not in theme.attention_scale
    assert theme.attention_scale[0] == theme.background
    assert theme.attention_scale[-1] == theme.ink


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_attention_scale_goes_one_way(theme: Theme) -> None:
    values = [luminance(colour) for colour in theme.attention_scale]
    assert values in (sorted(values), sorted(values, reverse=True))


def test_a_ramp_ends_where_it_should() -> None:
    assert ramp("#000000", "#ffffff", 3)[0::2] == ["#000000", "#ffffff"]
    assert len(set(SERIES)) == len(SERIES)
