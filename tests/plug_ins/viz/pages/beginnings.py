"""Beginnings: how many tokens each beginning of the text is, read by itself."""

from collections.abc import Iterator
from dataclasses import dataclass

from transformer import Checkpoint, record
from viz.exhibits.chart import Axis, Chart, Curve, values_of
from viz.exhibits.exhibit import Exhibit
from viz.run.line import Runner
from viz.run.request import Request, open_checkpoint
from viz.run.work import Growth, Study
from viz.state.page import Page, Pane

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Beginnings(Study[Sizes]):
    """The first word of a request's text, then the first two, until all were read."""

    request: Request

    @property
    def words(self) -> list[str]:
        return self.request.text.split()

    def run(self, before: Sizes | None, runner: Runner) -> Iterator[Sizes]:
        checkpoint = open_checkpoint(self.request)
        yield from runner.steps(checkpoint.model).of(self._read(checkpoint, before or ()))

    def _read(self, checkpoint: Checkpoint, sizes: Sizes) -> Iterator[Sizes]:
        for n in range(len(sizes) + 1, len(self.words) + 1):
            read = record(checkpoint, " ".join(self.words[:n]), target="3").source
            sizes = (*sizes, len(read))
            yield sizes

    def progress(self, value: Sizes) -> tuple[int, int]:
        return len(value), len(self.words)


def chart(sizes: Sizes) -> Exhibit:
    """Tokens over words, as far as the beginnings were read."""
    x, y = Axis("words"), values_of("tokens")
    curve = Curve("tokens", range(1, len(sizes) + 1), sizes, "accent", "{y}")
    content = Chart(f"beginnings {sizes}", "Beginnings", "", x, y, (curve,), 300)
    return Exhibit("Beginnings", content, f"Beginnings of {sizes} tokens")


def exhibits(pane: Pane) -> dict[str, Growth[Sizes]]:
    """A curve that grows."""
    return {"beginnings": Growth("Beginnings", Beginnings(pane.request), chart)}


PAGE = Page("beginnings", "Beginnings", "Look", 98, exhibits=exhibits)
