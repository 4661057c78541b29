"""Beginnings: how many tokens each beginning of the text is, read by itself."""

from collections.abc import Iterator
from dataclasses import dataclass

import streamlit as st

from transformer import Checkpoint, record
from viz.run.batches import Runner
from viz.run.request import Request, open_checkpoint
from viz.run.study import Study
from viz.state.page import Page, Pane
from viz.ui.progress import grow, is_written

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Beginnings(Study[Sizes]):
    """The first word of a request's text, then the first two, until all were read."""

    request: Request

    @property
    def words(self) -> list[str]:
        return self.request.text.split()

    def run(self, known: Sizes | None, runner: Runner) -> Iterator[Sizes]:
        checkpoint = open_checkpoint(self.request)
        yield from runner.steps(checkpoint.model).of(self._read(checkpoint, known or ()))

    def _read(self, checkpoint: Checkpoint, sizes: Sizes) -> Iterator[Sizes]:
        for n in range(len(sizes) + 1, len(self.words) + 1):
            read = record(checkpoint, " ".join(self.words[:n]), target="3").source
            sizes = (*sizes, len(read))
            yield sizes

    def progress(self, value: Sizes) -> tuple[int, int]:
        return len(value), len(self.words)


def draw(pane: Pane) -> None:
    """The numbers, as far as they are there."""
    if is_written(pane, "The beginnings follow"):
        work = grow(Beginnings(pane.asked), lambda sizes: st.write(f"Tokens: {sizes}"))
        st.caption(f"All beginnings were read: {work.is_whole}")


PAGE = Page("beginnings", "Beginnings", "Look", 98, draw)
