"""Several pictures of a notebook on one sheet."""

import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Unpack

from transformer.files.foreign_text import write_whole
from transformer.inputs import COUNT, PATH, TEXT, InputError, checks
from transformer.refusal import items_of
from viz.notebook.on_paper import WIDTH, Look
from viz.notebook.picture import Picture
from viz.paper.figure import PAGE
from viz.paper.panels import panels_figure


@checks(path=PATH, title=TEXT, citation=TEXT, width=WIDTH, columns=COUNT.or_none)
def panels(
    pictures: Iterable[Picture],
    path: str | Path,
    title: str = "",
    citation: str = "",
    width: float = PAGE,
    columns: int | None = None,
    captions: Iterable[str] | None = None,
    **look: Unpack[Look],
) -> Path:
    """Write several pictures to one file, in rows of equal height, with letters: .pdf, .svg, .png.

    The file is one page, as high as what is on it: write a long supplement as several.

    pictures: of `head_grid`, `word_card` and the like, in their order, at most 26.
    path: the file; its ending says which of the three.
    title, citation: of a page of a supplement, above and below; with either of them the captions
        stand there, too.
    width: in inches.
    columns: pictures of a row, from 1 on; None: as many as stay legible.
    captions: a caption for each picture, in place of ours; None: ours.
    look: words, scale, font and checkpoint, of each picture, as `Picture.save` lists them.

    Returns the path. Raises FigureError for another ending, and for no picture or too many, and
    Unwritten where it cannot be written. Warns of letters that no typeface here has.
    """
    file = Path(path)
    every = items_of(pictures)
    if every is None or not all(isinstance(it, Picture) for it in every):
        raise InputError("panels: pictures must be a list of pictures, as head_map makes them.")
    figures = [it.on_paper(**look) for it in every]
    if captions is not None:
        texts = items_of(captions)
        if (
            texts is None
            or len(texts) != len(every)
            or not all(isinstance(it, str) for it in texts)
        ):
            raise InputError(f"panels: captions must be {len(every)} texts, one for each picture.")
        figures = [
            replace(it, record=replace(it.record, caption=text))
            for it, text in zip(figures, texts, strict=True)
        ]
    figure = panels_figure(figures, title, citation, width, columns)
    content = figure.file(file.suffix.removeprefix(".").lower())
    if lacks := figure.lacks():
        warnings.warn(lacks, stacklevel=3)
    write_whole(file, content)
    return file
