"""Every display constant: colours, scales, sizes. Light and dark are two values of one class."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

COLOURS = ("background", "surface", "text", "dim", "grid", "accent", "ink", "contrast", "masked")
"""Names of a theme's colours, which style sheets have as variables: var(--dim)."""
N_STOPS = 17
"""Stops of a colour scale; between them Plotly and the browser interpolate linearly."""


@dataclass(frozen=True)
class Theme:
    """One look. Colours are #rrggbb and equal those of .streamlit/config.toml."""

    name: Literal["light", "dark"]
    background: str
    surface: str
    text: str
    dim: str
    """Secondary text: still 4.5:1 on the background."""
    grid: str
    accent: str
    """The one accent: what is chosen."""
    ink: str
    """The far end of the attention scale."""
    contrast: str
    """The other end of a difference scale."""
    masked: str
    """Cells that a mask forbids: off the attention scale."""
    head_colours: tuple[str, ...]
    """Colours of heads that are laid over each other: 16, each 3:1 on the background.

    Found by annealing in OKLab so that the two most alike are far apart, to readers who lack a kind
    of cone too (Machado et al. 2009); a test measures how far. The first five differ in
    lightness, too. A head, and a label, has one hue in both themes.
    """

    @property
    def variables(self) -> str:
        """The colours as declarations of CSS: "--background: #ffffff; --surface: ..."."""
        return "; ".join(f"--{name}: {getattr(self, name)}" for name in COLOURS)

    @cached_property
    def attention_scale(self) -> list[str]:
        """From the background (weight 0) to the ink (weight 1), in even steps of OKLab."""
        return ramp(self.background, self.ink)

    @cached_property
    def difference_scale(self) -> list[str]:
        """From -1 (contrast) over 0 (background) to 1 (ink)."""
        return ramp(self.contrast, self.background)[:-1] + ramp(self.background, self.ink)

    @property
    def mask_colours(self) -> tuple[str, str, str, str, str]:
        """A cell is allowed, or forbidden by padding, the subsequent mask, both, or another.

        Blue and orange part for every kind of colour-blindness; both together are far from either
        in lightness too.
        """
        tint = 2 * N_STOPS // 3
        padding, subsequent = (ramp(self.background, SERIES[i])[tint] for i in (0, 1))
        return self.surface, padding, subsequent, self.dim, self.contrast


def _colours(names: str) -> tuple[str, ...]:
    return tuple(names.split())


LIGHT = Theme(
    name="light",
    background="#ffffff",
    surface="#f5f6f8",
    text="#191c22",
    dim="#626a76",
    grid="#e3e6ea",
    accent="#bd3f0c",
    ink="#14286e",
    contrast="#8a3206",
    masked="#e7e4df",
    head_colours=_colours(
        "#0137a6 #e860a9 #004527 #ca344d #755200 #039fba #645d83 #8a9800 "
        "#800106 #0a72dd #77017a #927efe #03784c #bb846e #a344b1 #402e54"
    ),
)
DARK = Theme(
    name="dark",
    background="#0f1218",
    surface="#191e27",
    text="#e8eaee",
    dim="#98a1ae",
    grid="#2a313c",
    accent="#ff9b5e",
    ink="#cfe1ff",
    contrast="#ffb98a",
    masked="#2b2724",
    head_colours=_colours(
        "#1099ff #de4084 #a9fecc #fd98a8 #fcce8d #108d9c #b2abf3 #b5e200 "
        "#c70b14 #1f5dc4 #c96cd9 #815eef #11ca62 #b87249 #924197 #e9d7fc"
    ),
)

SERIES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800", "#7f7f7f")
"""Okabe and Ito's colours, for curves that are told apart; black is left to text."""

FONT = '"Source Sans", "Source Sans Pro", system-ui, sans-serif'
"""Streamlit's own, so that figures and text are of one hand."""
FONT_SIZE = 14
"""Pixels of labels in figures."""


def theme(name: str | None) -> Theme:
    """The theme of a name that Streamlit gives; light when it gives none."""
    return DARK if name == "dark" else LIGHT


def ramp(start: str, end: str, n: int = N_STOPS) -> list[str]:
    """n colours from start to end, perceptually even: a straight line in OKLab (Ottosson 2020)."""
    a, b = _oklab(start), _oklab(end)
    return [
        _hex(tuple(x + (y - x) * i / (n - 1) for x, y in zip(a, b, strict=True))) for i in range(n)
    ]


def _oklab(colour: str) -> tuple[float, ...]:
    srgb = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in srgb)
    l, m, s = (
        (x * r + y * g + z * b) ** (1 / 3)
        for x, y, z in (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        )
    )
    return (
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    )


def _hex(lab: tuple[float, ...]) -> str:
    lightness, a, b = lab
    l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    s = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    rgb = (
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    )
    return "#" + "".join(f"{round(255 * _unit(_gamma(_unit(c)))):02x}" for c in rgb)


def _gamma(c: float) -> float:
    """Linear light -> sRGB, both 0 to 1."""
    return 12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
