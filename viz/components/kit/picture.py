"""The picture as one frozen value that the page, the preview, the notebook and files share.

It says what is shown, not of which text and not where; so (request, picture) names a payload.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from torch import Tensor

from transformer.analysis.reading import AttentionMap, Reading, lenses, read
from transformer.analysis.strongest import strongest_cell
from transformer.decoding import Decoding
from transformer.recording import Recording
from transformer.recording.data import place_of
from viz.components.kit.browser import Component

Twin = Mapping[str, Sequence[int]] | None
"""The tokens of a picture that stand for those of the one beside it, as `sides.twin` gives them;
None: the picture stands alone."""

NOTHING_LEFT = "Nothing to show: all rows or columns are special tokens, and those are hidden."


class Picture(Protocol):
    """A hashable dataclass whose fields decide the payload."""

    @property
    def component(self) -> Component:
        """The component that draws it in the browser."""

    def title(self, recording: Recording) -> str:
        """The heading on a page of its own."""

    def payload(self, recording: Recording, decoding: Decoding | None = None) -> bytes:
        """The packed numbers, the same in every theme. Raises ValueError, in one sentence."""

    @property
    def data(self) -> Callable[..., bytes]:
        """(payload, theme, **state) -> the component's data; state: what moves over a payload."""

    def says(self, recording: Recording, decoding: Decoding | None = None, **state: Any) -> str:
        """One true sentence about it, for those who do not see it. state: as of `data`."""


@runtime_checkable
class OfMaps(Protocol):
    """A picture whose cells are those of maps."""

    def maps(self, recording: Recording) -> dict[str, AttentionMap]:
        """Each kind of attention -> its map. Raises as `known_map`."""


class NothingLeft(ValueError):
    """There is nothing to see: a reading leaves no row, or a study came to too little."""


def shown_map(
    recording: Recording, kind: str, reading: Reading, layer: int = 0, head: int = 0
) -> AttentionMap:
    """The map of a picture, with something to draw. Raises as `known_map`, and NothingLeft."""
    map = known_map(recording, kind, reading, layer, head)
    if not (map.rows and map.columns):
        raise NothingLeft(NOTHING_LEFT)
    return map


def known_map(
    recording: Recording, kind: str, reading: Reading, layer: int = 0, head: int = 0
) -> AttentionMap:
    """Raises ValueError where a recording has no such kind or lens, and NoSuchHead."""
    check_kind(recording, kind)
    check_name("lens", reading.lens, list(lenses()))
    place_in(recording, kind, layer, head)
    return read(recording, kind, reading)


def check_kind(recording: Recording, kind: str) -> None:
    """Raises ValueError where a recording has no such kind of attention, or none at all."""
    if not recording.attentions:
        raise ValueError("This recording holds no attention: there is nothing to draw.")
    check_name("kind of attention", kind, list(recording.attentions))


def place_in(recording: Recording, kind: str, layer: int, head: int) -> tuple[int, int]:
    """Layer and head of a kind that there is, as places from 0. Raises NoSuchHead."""
    of = recording.attentions[kind]
    return place_of("layer", layer, of.n_layers, kind), place_of("head", head, of.n_heads, kind)


def check_name(what: str, name: str, names: Sequence[str]) -> None:
    """Raises ValueError where a name is not known."""
    if name not in names:
        raise ValueError(f"There is no {what} {name!r} here: there is {', '.join(names)}.")


def strongest(values: Tensor, allowed: Tensor) -> dict[str, Any] | None:
    """The strongest cell of a map [R, C]; None where all are masked."""
    cell = strongest_cell(values, allowed)
    if cell is None:
        return None
    return {"row": cell[0], "column": cell[1], "value": float(values[cell])}
