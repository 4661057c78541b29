"""The request by which an engine in the browser draws what Python drew, of any other text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transformer import Checkpoint, decode
from transformer.analysis.reading import Reading, lenses
from transformer.by_name import opened
from transformer.decoding import decoding_methods
from transformer.edits import edit_kinds, parse
from transformer.origin import Origin
from transformer.refusal import Refusal, quoted
from transformer.token import Token
from viz.components.cell_steps.cell_steps import CellSteps
from viz.components.decode_player.decode_player import DecodePlayer
from viz.components.head_grid.head_grid import HeadGrid
from viz.components.head_map.head_map import HeadMap
from viz.components.head_view.head_view import HeadView
from viz.components.search_tree.search_tree import DecodeTree
from viz.components.token_rows.token_rows import TokenRows
from viz.live.models import METHODS, methods_of, not_read
from viz.live.tables import SPECIAL
from viz.map_words import uncapitalised

OPTIONS = {
    "greedy": ("max_len",),
    "beam": ("max_len", "beam_size", "length_penalty", "early_stopping", "plain_length"),
}
"""Decoding method -> its options that the engine reads, as `METHODS` of engine/decoding.js."""
EDITS = ("head-off", "cut", "hide")
"""The kinds of changes that the engine makes."""


class AliveError(Refusal):
    """No reader can type into a picture; says so in one sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(f"No reader can type into this picture: {why}.")
        self.why = why


@dataclass(frozen=True, eq=False)
class EngineRequest:
    """A text of a checkpoint, and how the engine answers it and every other one."""

    checkpoint: Checkpoint
    text: str
    method: str = ""
    """A decoding method; empty: the model writes nothing."""
    options: Mapping[str, Any] = field(default_factory=dict)
    prefix: tuple[int, ...] = ()
    edits: tuple[str, ...] = ()

    def data(self) -> dict[str, Any]:
        """Return it as JSON values. kept: the edits that are of no word of this text."""
        kinds = edit_kinds()
        return {
            "text": self.text,
            "method": self.method,
            "options": dict(self.options),
            "prefix": list(self.prefix),
            "edits": list(self.edits),
            "kept": [each for each in self.edits if not kinds[parse(each).name].is_of_text],
        }

    def checked(self) -> "EngineRequest":
        """The same, with those options that differ from the usual. Raises AliveError where the
        engine has not all of it.
        """
        method = decoding_methods(self.checkpoint.about).get(self.method)
        usual = {option.name: option.default for option in method.options} if method else {}
        options = {name: it for name, it in self.options.items() if it != usual.get(name)}
        result = replace(self, options=options)
        for why in result._lacks():
            raise AliveError(why)
        return result

    def _lacks(self) -> Iterator[str]:
        checkpoint = self.checkpoint
        if why := not_read(checkpoint):
            yield f"{checkpoint.name} is read only by Python: {why}"
            return
        if checkpoint.family.decodes and self.method not in METHODS:
            title = getattr(decoding_methods().get(self.method), "title", "nothing is decoded")
            yield f"the page decodes by {' or '.join(METHODS)}, and here it is {title}"
        for name in self.options:
            if name not in OPTIONS.get(self.method, ()):
                yield f"the page has no {name} of {self.method}"
        for each in self.edits:
            if parse(each).name not in EDITS:
                yield f"the page does not change a model by {quoted(each)}"


def request_of_origin(origin: Origin | None, target: Sequence[Token]) -> EngineRequest:
    """Return how the engine writes this target of a recording, a decoding or evidence.

    Of a target whose method is not known, each of the engine's methods is tried. Raises AliveError.
    """
    if origin is None:
        raise AliveError("it is of no text that a checkpoint trained here has read")
    checkpoint = opened(origin.checkpoint)
    if origin.method or not checkpoint.family.decodes:
        how = (origin.method, origin.options, origin.prefix)
        return EngineRequest(checkpoint, origin.text, *how, origin.edits).checked()
    methods = methods_of(checkpoint)
    EngineRequest(checkpoint, origin.text, methods[0], edits=origin.edits).checked()
    for method in methods:
        for options in [dict[str, Any](), {"max_len": max(1, len(target))}]:
            again = decode(checkpoint, origin.text, method, edits=origin.edits, **options)
            if again.target == tuple(target):
                return EngineRequest(checkpoint, origin.text, method, options, (), origin.edits)
    names = " nor ".join(methods)
    raise AliveError(f"neither {names} writes what is written here, and the page decodes by these")


def payload_request(picture: Any) -> dict[str, Any]:
    """Return what the engine's payload of a picture is made of. Raises AliveError."""
    if isinstance(picture, HeadGrid) and picture.worth is None:
        return {"kinds": list(picture.kinds), "reading": _reading(picture.reading)}
    if isinstance(picture, HeadView):
        of = {"kind": picture.kind, "layer": picture.layer}
        return {**of, "reading": _reading(picture.reading)}
    if isinstance(picture, HeadMap):
        return {**_head(picture), "reading": _reading(picture.reading)}
    if isinstance(picture, CellSteps) and picture.rows == "produced":
        cell = picture.cell and list(picture.cell)
        return {**_head(picture), "cell": cell, "asWords": picture.words}
    if isinstance(picture, DecodePlayer):
        return {"layer": picture.layer, "head": picture.head, "asWords": picture.words}
    if isinstance(picture, DecodeTree | TokenRows):
        return {"asWords": picture.words}
    raise AliveError("only Python draws it")


def _head(picture: HeadMap | CellSteps) -> dict[str, Any]:
    of = picture.selection
    return {"kind": of.kind, "layer": of.layer, "head": of.head}


def _reading(reading: Reading) -> dict[str, Any]:
    """Raises AliveError."""
    plain = Reading(words=reading.words, special=reading.special)
    if reading != plain or reading.special not in SPECIAL:
        how = "the rows or words that it leaves out"
        if reading.lens != plain.lens:
            how = uncapitalised(lenses()[reading.lens].title)
        elif reading.special not in SPECIAL:
            how = f"{reading.special} weights"
        raise AliveError(f"it shows {how}, and the page shows only plain weights")
    return {"words": reading.words, "special": reading.special}
