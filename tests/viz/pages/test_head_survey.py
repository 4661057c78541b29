"""A survey of a checkpoint that has none: made step by step, kept on disk where that is allowed."""

import shutil
from pathlib import Path

import pytest

from transformer.checkpoint import CheckpointError
from transformer.corpus import shipping
from transformer.models.family import Family
from viz.exhibits.table import Table
from viz.figures.heads.of_head import loss_of
from viz.pages.heads import every
from viz.pages.heads.every import HeadSurvey, atlas_of
from viz.pages.heads.one import exhibits_of_head
from viz.run.line import Runner
from viz.run.request import answer, make_request, open_checkpoint
from viz.run.work import finish
from viz.screen import Screen
from viz.state.page import Pane

COPY = Path(__file__).parents[3] / "checkpoints" / "copy"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint without a survey; of the sentences only the first ones are read."""
    shutil.copytree(COPY, tmp_path / "copy", ignore=shutil.ignore_patterns("survey"))
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))

    def few(checkpoint: object) -> shipping.Sentences:
        lines = {n: " ".join(str(n * i % 7 + 2) for i in range(1, 6)) for n in range(1, 11)}
        return shipping.Sentences(lines, "ten lines")

    monkeypatch.setattr(every, "sentences_for", few)
    return tmp_path / "copy"


def test_a_survey_is_kept_beside_the_weights_and_read_from_there(folder: Path) -> None:
    request = make_request("copy", "3 4", "greedy")
    assert atlas_of(request) is None
    gathered = finish(HeadSurvey.of(request))
    atlas = atlas_of(request)
    assert atlas is not None
    assert atlas.survey.n_sentences == gathered.n_done == 10
    assert len(atlas.shipped.worth) == len(atlas.heads) == 24


def test_it_goes_on_from_what_there_is(folder: Path) -> None:
    study = HeadSurvey.of(make_request("copy", "3 4", "greedy"))
    first, *_ = study.run(None, Runner())
    assert study.progress(first) == (4, 10)
    assert [each.n_done for each in study.run(first, Runner())] == [8, 10]


def test_what_cannot_be_written_stays_in_memory(folder: Path) -> None:
    request = make_request("copy", "3 4", "greedy")
    (folder / "survey").write_text("a file stands in its way")
    assert finish(HeadSurvey.of(request)).n_done == 10
    assert atlas_of(request) is None


def test_a_survey_of_other_weights_is_refused(folder: Path) -> None:
    request = make_request("copy", "3 4", "greedy")
    finish(HeadSurvey.of(request))
    file = folder / "survey" / "survey.json"
    file.write_text(file.read_text().replace('"fingerprint":"', '"fingerprint":"0', 1))
    with pytest.raises(CheckpointError):
        atlas_of(request)


def test_all_that_is_said_of_a_head_says_over_how_many_sentences() -> None:
    request = make_request("copy", "3 7 2 9", "greedy")
    atlas = atlas_of(request)
    assert atlas is not None
    exhibits = exhibits_of_head(Pane(Screen(), request, answer(request)), atlas)
    sentences = f"{atlas.survey.n_sentences:,d} sentences"
    assert {name for name, each in exhibits.items() if sentences not in each.says} == set()
    numbers = exhibits["numbers"].content
    assert isinstance(numbers, Table) and sentences in numbers.foot


def test_what_a_head_is_worth_to_a_model_that_continues_is_said_of_the_given_text() -> None:
    words = {name: loss_of(family_of(name), "nats") for name in ("en-de", "shakespeare")}
    words["sentiment"] = loss_of(family_of("sentiment"), "nats")
    assert len(set(words.values())) == 3
    assert "given text" in words["shakespeare"] and "output" in words["en-de"]
    assert loss_of(family_of("sentiment"), "degrees") == loss_of(family_of("en-de"), "degrees")


def family_of(name: str) -> Family:
    return open_checkpoint(make_request(name, "so good", "none")).family
