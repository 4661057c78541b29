"""The colours: one look in Python and in Streamlit's configuration, readable and even."""

import itertools
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from viz.theme import COLOURS, DARK, LIGHT, SERIES, Theme, ramp

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


MACHADO = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
"""What a reader sees of linear RGB (Machado, Oliveira and Fernandes 2009, severity 1)."""
LEAST = {"all cones": 0.12, "protanopia": 0.065, "deuteranopia": 0.065, "tritanopia": 0.06}
"""Distance in OKLab between the two heads most alike; 0.02 can just be told apart."""


def seen(colour: str, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """OKLab (Ottosson 2020) of a colour as it is seen."""
    srgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    cones = np.array(
        [
            [0.4122214708, 0.5363325363, 0.0514459929],
            [0.2119034982, 0.6806995451, 0.1073969566],
            [0.0883024619, 0.2817188376, 0.6299787005],
        ]
    )
    lab = np.array(
        [
            [0.2104542553, 0.7936177850, -0.0040720468],
            [1.9779984951, -2.4285922050, 0.4505937099],
            [0.0259040371, 0.7827717662, -0.8086757660],
        ]
    )
    return lab @ np.cbrt(cones @ np.clip(matrix @ linear, 0, 1))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
@pytest.mark.parametrize("reader", list(MACHADO))
def test_no_two_heads_look_alike(theme: Theme, reader: str) -> None:
    colours = [seen(colour, MACHADO[reader]) for colour in theme.head_colours]
    distances = [np.linalg.norm(a - b) for a, b in itertools.combinations(colours, 2)]
    assert min(distances) >= LEAST[reader]


def test_a_head_has_one_hue_in_both_themes() -> None:
    for colours in zip(LIGHT.head_colours, DARK.head_colours, strict=True):
        light, dark = (seen(colour, MACHADO["all cones"]) for colour in colours)
        angle = np.degrees(np.arctan2(light[2], light[1]) - np.arctan2(dark[2], dark[1]))
        assert abs((angle + 180) % 360 - 180) < 15


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_heads_stand_out_from_the_background(theme: Theme) -> None:
    assert len(theme.head_colours) == 16
    assert min(contrast(colour, theme.background) for colour in theme.head_colours) >= 3


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_every_variable_of_a_style_sheet_is_declared(theme: Theme) -> None:
    declared = set(re.findall(r"--([a-z]+): #", theme.variables))
    sheets = [path.read_text("utf-8") for path in (Path(__file__).parents[2] / "viz").rglob("*.py")]
    used = {name for text in sheets for name in re.findall(r"var\(--([a-z]+)\)", text)}
    used -= {name for text in sheets for name in re.findall(r"--([a-z]+):\{", text)}  # at a node
    assert used and used <= declared == set(COLOURS)
