"""The numbers of a figure say which tokens they are of, whatever is hidden or merged."""

import csv
import io
from collections.abc import Iterator

import pytest

from tests.representatives import cases
from tests.viz.places import PLACES
from transformer import decode, load_checkpoint, record
from transformer.checkpoint import checkpoints_folder
from transformer.recording import Recording
from transformer.token import Token
from viz.exhibits.chart import Chart
from viz.exhibits.exhibit import Exhibit, PictureAt, Words
from viz.exhibits.table import Table, Tables, as_tables
from viz.figure_at import page_of
from viz.paper.record import address_of
from viz.screen import parse
from viz.state.page import Pane
from viz.ui.saving import figure_of

TEXT = "The animals were tired."
OF_NO_TEXT = {"qk", "ov", "tree"}
"""Figures whose tokens stand in no text that the model has read."""
OF_OTHER_TEXTS = {"heads": {"deciles", "strongest"}}
"""Figures of a page whose tokens stand in texts of their own, as all of Masks do."""
MORE = {
    "positions": ("view=token_vectors", "view=encoding_shift"),
    "decode": ("step=1",),
    "heads": ("heads_of=ask&heads_ask=who+looks+at+the+same+word&text=3+7+2+9",),
}


@pytest.fixture(scope="module")
def recording() -> Recording:
    checkpoint = load_checkpoint(checkpoints_folder() / "en-de", "cpu")
    return record(checkpoint, TEXT, decode(checkpoint, TEXT).target)


def numbers(exhibit: str, **choices: str) -> list[dict[str, str]]:
    """The rows of the CSV beside a figure of Explore."""
    parts = {"checkpoint": "en-de", "text": TEXT, "kind": "cross", "layer": "1", "head": "2"}
    pane, figures = page_of(parse({**parts, "lines": "0", **choices}))
    file = figure_of(pane, figures[exhibit], name=exhibit).table("csv").decode()
    return list(csv.DictReader(io.StringIO(file.removeprefix("\ufeff"))))


@pytest.mark.parametrize("special", ["shown", "hidden"])
@pytest.mark.parametrize("picture", ["grid", "arrows", "map"])
def test_each_cell_names_its_tokens(picture: str, special: str, recording: Recording) -> None:
    exhibit = "grid" if picture == "grid" else "picture"
    chosen = {} if picture == "grid" else {"picture": picture}
    rows = numbers(exhibit, special=special, tokens="pieces", **chosen)
    assert len(rows) > 10
    for row in rows:
        kind = row["kind"] if picture == "grid" else "cross"
        layer, head = (int(row.get(name, 1)) for name in ("layer", "head"))
        attention = recording.attentions[kind]
        query, key = int(row["query_position"]), int(row["key_position"])
        weight = float(attention.weights(layer, head)[query, key])
        assert float(row["weight"]) == pytest.approx(weight, rel=1e-4, abs=1e-6)
        assert row["query_piece"] == attention.queries[query].piece
        assert row["key_piece"] == attention.keys[key].piece
        produced = attention.produced
        assert row["written_piece"] == ("" if produced is None else produced[query].piece)
    assert any(row["key_position"] == "0" for row in rows) or special == "hidden"


def test_a_word_names_all_its_pieces(recording: Recording) -> None:
    keys = recording.attentions["cross"].keys
    for row in numbers("picture", picture="map", tokens="words"):
        places = [int(place) for place in row["key_position"].split()]
        assert row["key_piece"].split() == [keys[place].piece for place in places]


def rows_of(pane: Pane, name: str, shown: Exhibit) -> list[dict[str, str]]:
    file = figure_of(pane, shown, name=name).table("csv").decode()
    return list(csv.DictReader(io.StringIO(file)))


def names_tokens(shown: Exhibit) -> bool:
    """Tell whether tokens stand beside what is drawn."""
    content = shown.content
    if isinstance(content, PictureAt):
        return shown.content.over.get("show", "maps") == "maps"
    if isinstance(content, Chart):
        sides = (content.x.labels, content.y.labels)
        return any(isinstance(label, Token) for side in sides for label in side)
    if isinstance(content, Words):
        return any(span.role for line in content.lines for span in line.spans)
    assert isinstance(content, Table | Tables)
    return any(column.is_word for table in as_tables(content) for column in table.columns)


def sides_of(header: list[str]) -> Iterator[str]:
    """The beginnings of columns that name tokens."""
    return (name.removesuffix("piece") for name in header if name.endswith("piece"))


CHOICES = ("", "special=hidden&tokens=words")
FEW = {
    "each position": ("explore", ""),
    "components": ("explore", CHOICES[1]),
    "a tree": ("decode", CHOICES[1]),
    "tables": ("sweep", CHOICES[1]),
}
"""What has to do with words that are hidden or joined; other pages draw the same."""


@pytest.mark.parametrize(
    ("page", "choices"), cases([(page, each) for page in PLACES for each in CHOICES], FEW)
)
def test_every_row_about_a_token_has_its_position_piece_and_word(page: str, choices: str) -> None:
    """Of every figure of every page: whatever is named by tokens has rows that say which."""
    for query in (*PLACES[page], *MORE.get(page, ())):
        pane, figures = page_of(address_of(f"./{page}?checkpoint=copy&{query}&{choices}"))
        tokens = {pane.recording.source, pane.recording.target} if pane.result else set()
        for each in pane.recording.attentions.values() if pane.result else ():
            tokens |= {each.queries, each.keys}
        for name, shown in figures.items():
            rows = rows_of(pane, name, shown)
            if not rows:  # of a question that no head answers
                assert isinstance(shown.content, Table | Tables)
                assert not any(table.rows for table in as_tables(shown.content))
                continue
            sides = set(sides_of(list(rows[0])))
            if names_tokens(shown) and name not in OF_NO_TEXT:
                assert sides, (page, query, name)
            for row in rows:
                for side in sides - {"written_", "other_"}:
                    places = list(map(int, row[f"{side}position"].split()))
                    pieces, words = row[f"{side}piece"].split(), row[f"{side}word"].split()
                    assert len(pieces) == len(places) and bool(words) == bool(places)
                    if places and page != "masks" and name not in OF_OTHER_TEXTS.get(page, ()):
                        assert any(
                            pieces == [of[i].piece for i in places]
                            for of in tokens
                            if max(places) < len(of)
                        ), (page, name, row)
