"""Pairs of long sentences, by kind, and texts of neighbours that follow each other."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from transformer.training.data_folder import need
from transformer.training.recipes.en_de_data.noise import Row

ROOM, FILE = "long_en_de", "train.tsv"
SOURCES = {
    "general": ("wmt_news_2021_2023", "xquad", "opensource_guide"),
    "parliament": ("europarl_20k",),
    "narrative": (
        *("african_storybook", "gutenberg", "literature_aligned", "wesnoth", "cataclysm_dda"),
        *("freeciv_freeorion", "widelands"),
    ),
    "bible": ("bible_menge_web",),
    "technical": (
        *("libreoffice_help", "gnome_user_docs", "gimp_help", "debian_docs", "manpages"),
        *("php_docs", "lilypond_docs", "tails_website", "mediawiki_messages"),
    ),
}
"""Kind -> the folders that hold its pairs."""
IN_ORDER = ("gutenberg", "bible_menge_web", "europarl_20k", "literature_aligned")
"""Folders whose lines follow each other as they do in the text."""
MOST_WORDS = 60
"""The most words of a text that is joined of neighbours."""


def files(data: Path | None, kind: str) -> list[Path]:
    """List the files of a kind. Raises MissingData, which names the first that is not there."""
    folders = IN_ORDER if kind == "neighbours" else SOURCES[kind]
    return [need(data, f"{ROOM}/{folder}", FILE) for folder in folders]


def neighbours(rows: Sequence[Row]) -> list[Row]:
    """Two or three lines in succession as one text, each line in at most one of them."""
    texts, at, n = [], 0, 2
    while at < len(rows):
        group = rows[at : at + n]
        while len(group) > 1 and _n_words(group) > MOST_WORDS:
            group = group[:-1]
        if len(group) > 1:
            texts.append(joined(group))
        at, n = at + len(group), 5 - n
    return texts


def joined(rows: Iterable[Row]) -> Row:
    """Several sentences as one text."""
    rows = list(rows)
    return " ".join(row[0] for row in rows), " ".join(row[1] for row in rows)


def _n_words(rows: Iterable[Row]) -> int:
    return sum(len(row[0].split()) for row in rows)
