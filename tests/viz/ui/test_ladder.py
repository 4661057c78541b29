"""The ladder of a pinned word: its figure has the numbers of the library, and each rung a link."""

from collections.abc import Callable
from threading import Event
from typing import Any, NoReturn
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.transformer.watch.hugging_face import build
from tests.viz.ui.test_of_word import NICHT, TIRED, figures, lines
from transformer.analysis.reading import read
from transformer.causes.ladder import ladder, strongest_arrow
from viz.causes import of_word
from viz.causes.needs import Causes
from viz.causes.studies import Climb
from viz.components.kit.picture import sides
from viz.exhibits.table import Table
from viz.run.cache import CACHE
from viz.run.work import at_hand, finish, follow
from viz.screen import parse
from viz.state.page import Pane


def test_a_ladder_is_climbed_to_the_word_that_is_needed_or_pinned() -> None:
    pane, made = figures("ladder", kind="cross", pins="q5")
    t = [token.piece for token in pane.recording.source].index("t")
    arrow = f"cut:cross.2.0.{NICHT}.{t}"
    rungs = ladder(pane.checkpoint, TIRED, pane.recording.target, arrow)
    costs = [float(line["value"]) for line in lines(pane, made["ladder"])]
    assert costs == pytest.approx([rung.cost for rung in rungs], abs=1e-6)
    table = made["ladder"].content
    assert isinstance(table, Table)
    links = [parse(dict(parse_qsl(urlsplit(row.head.link).query))) for row in table.rows]
    assert [screen.edits for screen in links] == [tuple(map(str, rung.edits)) for rung in rungs]
    assert links[-1].text == "The animal cross the street because it was too tired."
    weight = float(pane.recording.attentions["cross"].weights(2, 0)[NICHT, t])
    assert f"{rungs[-2].cost:.2f}" in made["ladder"].says and rungs[-2].cost > 5
    assert f"{weight:.1%}".replace("%", " %") in made["ladder"].says
    pane, made = figures("ladder", kind="cross", pins="q5,k3")
    rungs = ladder(pane.checkpoint, TIRED, pane.recording.target, _strongest(pane, 3))
    costs = [float(line["value"]) for line in lines(pane, made["ladder"])]
    assert costs == pytest.approx([rung.cost for rung in rungs], abs=1e-6)


def _strongest(pane: Pane, word: int) -> str:
    return str(strongest_arrow(pane.recording, NICHT, word))


def test_more_edits_than_an_address_holds_are_no_link(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_word, "MOST_EDITS", 10)
    table = figures("ladder", kind="cross", pins="q5")[1]["ladder"].content
    assert isinstance(table, Table)
    linked = [row.head.text for row in table.rows if row.head.link]
    assert len(linked) == 6 and not {"all layers", "the heads of its layer"} & set(linked)


def test_models_of_others_have_a_ladder(tmp_path: Any) -> None:
    build("GPT-2").save_pretrained(tmp_path)
    choices = {"checkpoint": str(tmp_path), "text": "7 9 11", "options.max_len": "6"}
    pane, _ = figures("ladder", **choices)
    place = sides(read(pane.recording, "decoder_self", pane.reading))["rows"]["target"][0]
    _, made = figures("ladder", pins=f"q{place}", **choices)
    table = made["ladder"].content
    assert isinstance(table, Table) and len(table.rows) == 7


def test_a_ladder_keeps_the_evidence_that_it_needs_and_counts_it_once() -> None:
    pane, _ = figures("")
    request = pane.answer.request
    CACHE.clear()
    first = Climb(request, NICHT)
    climbed = finish(first)
    causes = Causes(request)
    evidence = at_hand(causes)
    assert evidence is not None
    n_rungs = len(climbed.rungs)
    assert first.n_read(climbed) == n_rungs + causes.n_read(evidence) > 20
    for further in (Climb(request, NICHT + 1), Climb(request, NICHT, 0)):
        value = finish(further)
        assert further.n_read(value) == len(value.rungs) <= n_rungs


@pytest.mark.parametrize("word", [None, 3])
def test_a_ladder_is_stopped_within_a_step(
    word: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Event()

    def endless(*asked: Any, on_step: Callable[[], None]) -> NoReturn:
        while True:
            begun.set()
            on_step()

    pane, _ = figures("")
    CACHE.clear()
    monkeypatch.setattr("viz.causes.needs.evidence_beside", endless)
    monkeypatch.setattr("viz.causes.studies.ladder", endless)
    climb = follow(Climb(pane.answer.request, NICHT, word))
    assert begun.wait(10) and not climb.work.ended.is_set()
    climb.stop()
    assert climb.work.ended.wait(10) and climb.work.error is None and not climb.work.is_whole
