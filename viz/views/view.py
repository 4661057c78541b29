"""The declaration of a view, and the controls that it may ask for, as data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, Protocol

from transformer.analysis.reading import Selection
from transformer.recording import Recording
from viz.exhibits.chart import Chart


class Control(Protocol):
    """Something to choose. The panel draws it; the choice reaches the view under its name."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    def options(self, recording: Recording) -> Sequence[Any]:
        """The choices for this recording, the default first."""


@dataclass(frozen=True)
class HeadChoice:
    """One head of any kind and layer: a Selection."""

    name: str = "selection"
    title: str = "Head"

    def options(self, recording: Recording) -> list[Selection]:
        return [
            Selection(kind, layer, head)
            for kind, attention in recording.attentions.items()
            for layer in range(attention.n_layers)
            for head in range(attention.n_heads)
        ]


@dataclass(frozen=True)
class SideChoice:
    """ "source", "target" or "text", as far as the recording has them."""

    name: str = "side"
    title: str = "Side"

    def options(self, recording: Recording) -> list[str]:
        return list(recording.positions)


@dataclass(frozen=True)
class PartChoice:
    """One of several entries that a part of the recording has, by its name."""

    name: str
    title: str
    part: Literal["rotary", "biases"]

    def options(self, recording: Recording) -> list[str]:
        return list(getattr(recording, self.part))


@dataclass(frozen=True)
class Choice:
    """One of a fixed list."""

    name: str
    title: str
    values: tuple[str, ...]

    def options(self, recording: Recording) -> tuple[str, ...]:
        return self.values


@dataclass(frozen=True)
class Amount:
    """A whole number of positions, from 1 to as many as the table of encodings has."""

    name: str
    title: str
    default: int
    spare: int = 0
    """Positions that must be left: a shift needs one to arrive at."""

    def options(self, recording: Recording) -> list[int]:
        limit = min(len(side.table) for side in recording.positions.values()) - self.spare
        default = min(self.default, limit)
        return [default, *(n for n in range(1, limit + 1) if n != default)]


@dataclass(frozen=True)
class Dimensions:
    """Several of the encodings' dimensions: an option is a tuple of them.

    Beside the default, each dimension by itself is offered; the panel may combine them.
    """

    name: str
    title: str

    def options(self, recording: Recording) -> list[tuple[int, ...]]:
        d_model = min(side.table.size(1) for side in recording.positions.values())
        # Even ones, closer together at the fast end: waves of a few positions up to hundreds.
        spread = sorted({d_model * i // 16 * 2 % d_model for i in (0, 1, 2, 4)})
        return [tuple(spread), *((dimension,) for dimension in range(d_model))]


Needs = Literal[
    "attentions", "positions", "classification", "numbers", "masked", "vector", "rotary", "biases"
]
Place = Literal["explore", "compare", "decode", "positions", "nowhere"]
PLACES: Mapping[Needs, Place] = MappingProxyType(
    {
        "attentions": "explore",
        **dict.fromkeys(("positions", "rotary", "biases"), "positions"),
        **dict.fromkeys(("classification", "numbers", "masked", "vector"), "decode"),
    }
)
"""The page that lists a view, by what it needs; in this order."""


@dataclass(frozen=True)
class View:
    """One picture of a recording.

    content: (recording, **choices) -> Chart; describe: (recording, **choices) -> one true sentence
    about it, for those who do not see it. Both take one choice a control, by its name.
    """

    name: str
    title: str
    explain: str
    needs: Needs
    """The part of a recording that must not be empty."""
    content: Callable[..., Chart]
    describe: Callable[..., str]
    controls: tuple[Control, ...]
    applies: Callable[[Recording], bool] | None = None
    """A test of the sort of what it needs; None: any sort will do."""
    place: Place | None = None
    """The page that lists it; None: the one for what it needs. "nowhere": drawn by its name."""
    beside: str = ""
    """The control whose options are all drawn, beside each other, where there is room."""

    @property
    def page(self) -> Place:
        return self.place or PLACES[self.needs]

    def applies_to(self, recording: Recording) -> bool:
        """Say whether the recording has what this view needs; nothing else may be drawn."""
        if not getattr(recording, self.needs):
            return False
        return self.applies is None or self.applies(recording)
