"""Which head aligns, on the page Heads: rows, their links, and a study that goes on."""

from urllib.parse import parse_qs, urlsplit

import pytest

from transformer.analysis.alignment import Reader
from transformer.corpus.shipping import Sentences
from transformer.inputs import InputError
from viz.exhibits.table import Table, cells_of
from viz.pages.heads import align
from viz.pages.heads.align import ALIGN, NAME, HeadsAligned, exhibits_of_alignment
from viz.run.line import Runner
from viz.run.request import answer, make_request
from viz.run.work import finish
from viz.screen import Screen, parse, put
from viz.state.page import Pane


@pytest.fixture(autouse=True)
def few_sentences(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = {n: " ".join(str(n * i % 7 + 2) for i in range(1, 6)) for n in range(1, 11)}
    monkeypatch.setattr(align, "sentences_for", lambda _: Sentences(lines, "ten lines"))
    monkeypatch.setattr(align, "STEP", 4)


def pane(checkpoint: str = "copy", text: str = "3 7 2 9") -> Pane:
    request = make_request(checkpoint, text, "greedy")
    screen = put(Screen(), page="heads", checkpoint=checkpoint, text=text, heads_of="align")
    return Pane(screen, request, answer(request))


def test_rows_are_the_best_readers_each_opening_on_explore_by_its_row() -> None:
    shown = pane()
    growth = exhibits_of_alignment(shown)[NAME]
    readings = finish(growth.study)
    table = growth.exhibit(readings).content
    assert isinstance(table, Table) and len(readings.scores) == 2 * 2 * 5
    assert table.n_sentences == readings.n_pairs == 9  # one has the same number five times
    rates = [row["value"] for row in cells_of(table) if row["column"] == "error rate"]
    assert rates == sorted(rates) == [each.error.mean for each in readings.scores[: len(rates)]]
    assert rates[0] < 5 < rates[-1]  # it copies by the row that writes
    for row, score in zip(table.rows, readings.scores, strict=False):
        asked = {name: of[0] for name, of in parse_qs(urlsplit(row.head.link).query).items()}
        screen = parse({"page": "explore", **asked})
        head = None if screen.mean else screen.head
        assert Reader(screen.rows, screen.layer or 0, head) == score.reader
        assert (screen.kind, screen.tokens, screen.text) == ("cross", "words", "3 7 2 9")
    file = ALIGN.rows(shown)[NAME]
    assert [row["aer"] for row in file.make(readings)] == [e.error.mean for e in readings.scores]
    assert str(readings.alignment_heads) in ALIGN.below(shown, readings)


def test_it_goes_on_from_what_there_is() -> None:
    study = HeadsAligned("copy", pane().request.version)
    first, *rest = study.run(None, Runner())
    assert study.progress(first) == (4, 10) and [each.n_done for each in rest] == [8, 10]
    others = [*study.run(first, Runner())]
    assert [each.n_done for each in others] == [8, 10]
    assert others[-1].scores == rest[-1].scores


def test_a_model_without_cross_attention_is_refused_and_not_offered() -> None:
    shown = pane("sentiment", "A wonderful film.")
    assert not ALIGN.is_offered(shown) and ALIGN.is_offered(pane())
    with pytest.raises(InputError, match="no cross-attention"):
        finish(exhibits_of_alignment(shown)[NAME].study)
