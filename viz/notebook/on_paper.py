"""A notebook's picture as a figure for a paper, with all that a reader of the paper needs."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from numbers import Real
from pathlib import Path
from typing import Any, TypedDict

from transformer import load_checkpoint
from transformer.causes import Evidence
from transformer.checkpoint import About, CheckpointError
from transformer.decoding import Decoding, decoding_methods
from transformer.decoding.steps import written_text
from transformer.fingerprint import fingerprint
from transformer.formats.opening import describe_checkpoint
from transformer.inputs import TEXT, YES_OR_NO, of_class
from transformer.origin import Origin
from transformer.recording import Recording
from transformer.refusal import visible
from viz.components.kit.picture import OfMaps
from viz.components.search_tree.search_tree import pack_tree
from viz.exhibits.table import Tables, cells_of
from viz.export import recording_npz
from viz.map_words import uncapitalised
from viz.painters.table_sheet import table_sheet
from viz.paper.caption import (
    changed,
    how_changed,
    how_decoded,
    how_read,
    known_as,
    of_checkpoint,
    reading,
    sentence,
    whole,
    writing,
)
from viz.paper.figure import PAGE, Figure, of_component
from viz.paper.record import FigureError, Record, versions
from viz.theme import Theme


class Look(TypedDict, total=False):
    """The choices of a figure, by name."""

    words: bool
    """The pieces of a word are one row or column; left out: as the picture shows them."""
    scale: str
    """"root" or "linear": how weights become colours."""
    font: str
    """Family or file of the typeface; see docs/figures.md."""
    slide: bool
    """It fills a slide of 16:9."""
    caption: str
    """The whole caption, in place of ours."""
    checkpoint: str
    """The name of the model, where it is another than that of its folder."""


LOOK = {
    **dict.fromkeys(("words", "slide"), YES_OR_NO),
    **dict.fromkeys(("scale", "font", "caption", "checkpoint"), TEXT),
}
"""The same, as what each must be."""
NAMED = ("head_grid", "snapshot_player")
"""Components whose drawing names its heads."""
WIDTH = of_class(Real, "a width in inches")


@dataclass(frozen=True, eq=False)
class OnPaper:
    """The parts of a picture of which its figure is drawn again."""

    exhibit: Any
    """A picture of viz/components, or tables."""
    title: str
    recording: Recording | None
    """None: the picture is of a decoding alone."""
    decoding: Decoding | None
    theme: Theme
    state: Mapping[str, Any] = field(default_factory=dict)
    evidence: Evidence | None = None
    """The origin of tables."""

    def figure(self, look: Look) -> Figure:
        """Draw it. Raises FigureError, and what the picture raises."""
        exhibit = self.exhibit
        if isinstance(exhibit, Tables):
            if not look.get("words", True):
                raise FigureError("This table is of words: leave words out.")
            record = self._record(exhibit, look.get("checkpoint", ""), look.get("caption", ""))
            draw, numbers = partial(table_sheet, exhibit, self.theme), partial(cells_of, exhibit)
            return Figure(draw, record, PAGE, rows=numbers)
        if "words" in look:
            exhibit = _worded(exhibit, look["words"])
        recording: Any = self.recording
        if recording is None and self.decoding is not None:
            packed = pack_tree(self.decoding.search, exhibit.words)
        else:
            packed = exhibit.payload(recording, self.decoding)
        data = exhibit.data(packed, self.theme, **self.state)
        record = self._record(exhibit, look.get("checkpoint", ""), look.get("caption", ""))
        figure = of_component(exhibit.component.name, data, record, scale=look.get("scale", "root"))
        if look.get("caption"):
            figure = replace(figure, record=record)
        if exhibit.component.name not in NAMED:
            what, _, head = visible(self.title).partition(", ")  # the head, where room is small
            figure = replace(figure, name=f"{head}, {uncapitalised(what)}" if head else what)
        if recording is None:
            return figure
        if recording.attentions:
            figure = replace(figure, numbers=partial(_numbers, recording))
        if isinstance(exhibit, OfMaps):
            figure = replace(figure, maps=partial(exhibit.maps, recording))
        return figure

    def _record(self, exhibit: Any, checkpoint: str, caption: str) -> Record:
        """Return what stands below it: who reads the paper sees no notebook."""
        origin = self._origin
        name = checkpoint or (origin.checkpoint.name if origin else "")
        text, written = ("", "") if origin is None else (origin.text, self._written(origin))
        title = f"{name} · {self.title}" if name else self.title
        says = caption or self._caption(exhibit, name, origin)
        texts = (text, written, visible(title), visible(says), versions())
        return Record("explore", "", "", "", *texts)

    @property
    def _origin(self) -> Origin | None:
        of = self.evidence or self.recording or self.decoding
        origin = None if of is None else of.origin
        return origin if self.decoding is None else self.decoding.origin or origin

    def _caption(self, exhibit: Any, name: str, origin: Origin | None) -> str:
        first, about = self.title, _about(origin)
        if name:
            of_about = (
                known_as(about.title, fingerprint(origin.checkpoint)) if about and origin else ""
            )
            first += of_checkpoint(name, of_about)
        if origin is not None:
            first += reading(origin.text) + self._writing(origin)
        recording: Any = self.recording
        parts = [f"{first}.", *(about.notes if about else ())]
        if origin is not None and origin.edits and recording is not None:
            parts.append(changed(how_changed(origin.edits, recording)))
        if isinstance(exhibit, Tables):
            parts += map(sentence, filter(None, (exhibit.title, exhibit.remark)))
        elif says := exhibit.says(recording, self.decoding, **self.state):
            parts.append(sentence(says))
        if recording is not None:
            kind = getattr(exhibit, "kind", "") or getattr(
                getattr(exhibit, "selection", None), "kind", ""
            )
            parts += how_read(recording, exhibit, kind, self.state)
        return whole(parts)

    def _writing(self, origin: Origin) -> str:
        """Say what was written, or which target was given."""
        written = self._written(origin)
        if origin.method:
            method = decoding_methods(_about(origin))[origin.method]
            return writing(written, how_decoded(method, origin.options))
        return f" and the target “{written}”" if written else ""

    def _written(self, origin: Origin) -> str:
        if self.decoding is not None:
            return self.decoding.text
        of = self.recording or self.evidence
        if of is None or not of.target or _about(origin) is None:
            return ""
        source = () if self.recording is None else self.recording.source
        return _text(
            origin.checkpoint, *(tuple(it.id for it in side) for side in (source, of.target))
        )


@lru_cache(maxsize=32)
def _text(checkpoint: Path, source: tuple[int, ...], target: tuple[int, ...]) -> str:
    """To open a checkpoint takes longer than a figure, and one is often saved twice."""
    return written_text(load_checkpoint(checkpoint), source, target)


def _about(origin: Origin | None) -> About | None:
    """Return what a checkpoint says of itself; None: there is none, or its files are gone."""
    try:
        return None if origin is None else describe_checkpoint(origin.checkpoint).about
    except CheckpointError:
        return None


def _worded(exhibit: Any, words: bool) -> Any:
    """The same picture of words, or of pieces. Raises FigureError where it has neither."""
    if hasattr(exhibit, "reading"):
        return replace(exhibit, reading=replace(exhibit.reading, words=words))
    if not hasattr(exhibit, "words"):
        raise FigureError("This picture shows no tokens: leave words out.")
    return replace(exhibit, words=words)


def _numbers(recording: Recording) -> dict[str, bytes]:
    return {"recording.npz": recording_npz(recording)}
