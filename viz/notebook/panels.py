"""Several pictures of a notebook on one sheet."""

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Unpack

from transformer.files.foreign_text import write_whole
from transformer.inputs import PATH, TEXT, InputError, checks
from transformer.refusal import items_of
from viz.notebook.on_paper import WIDTH, Look
from viz.notebook.picture import Picture
from viz.paper.figure import PAGE
from viz.paper.panels import panels_figure


@checks(path=PATH, title=TEXT, citation=TEXT, width=WIDTH)
def panels(
    pictures: Iterable[Picture],
    path: str | Path,
    title: str = "",
    citation: str = "",
    width: float = PAGE,
    **look: Unpack[Look],
) -> Path:
    """Write several pictures to one file, in rows of equal height, with letters: .pdf, .svg, .png.

    title, citation: of a page of a supplement, above and below; with either of them the captions
    stand there, too. width: in inches. look: of each, as `Picture.save` takes it. Raises
    InputError, FigureError and OSError; warns of letters that no typeface here has.
    """
    file = Path(path)
    every = items_of(pictures)
    if every is None or not all(isinstance(it, Picture) for it in every):
        raise InputError("panels: pictures must be a list of pictures, as head_map makes them.")
    figures = [it.on_paper(**look) for it in every]
    figure = panels_figure(figures, title, citation, width)
    content = figure.file(file.suffix.removeprefix(".").lower())
    if lacks := figure.lacks():
        warnings.warn(lacks, stacklevel=3)
    write_whole(file, content)
    return file
