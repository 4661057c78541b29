"""The page Heads without a server has the table of the app, and the orders of its rows."""

import json
from pathlib import Path

import pytest

from tests.representatives import cases
from tests.viz.live.payloads import ROOT, checkpoint_of
from transformer import Recording
from transformer.corpus.labels import Atlas
from transformer.corpus.shipped import shipped_survey
from viz.live.heads import heads_page, surveys_of
from viz.live.models import example

NAMES = [path.parents[1].name for path in ROOT.glob("checkpoints/*/survey/survey.json")]


def recording_of(name: str) -> Recording:
    checkpoint = checkpoint_of(name)
    return example(checkpoint, checkpoint.about.examples[0])[1]


@pytest.mark.parametrize(
    "name", cases(sorted(NAMES), {"three kinds": "en-de-small", "one kind": "sentiment"})
)
def test_rows_and_columns_stand_where_the_orders_say(name: str) -> None:
    recording, shipped = recording_of(name), shipped_survey(checkpoint_of(name).path)
    assert shipped is not None
    atlas, page = Atlas(shipped, recording.numbering), heads_page(checkpoint_of(name), recording)
    assert page is not None
    (_, _, (_, _, (_, _, (_, _, table)))) = page["table"][0]
    _, _, head, body = table
    titles = [_texts(each)[0] if _texts(each) else "" for each in head[2][2:]]
    places = list(atlas.heads)
    assert len(body[2:]) == len(page["rows"]) == len(places)
    for order in page["orders"]:
        assert sorted(order["rows"]) == [*range(len(places))]
        if order["column"] is None:
            continue
        assert titles[order["column"]] == order["title"].removeprefix("By ")
        found = [atlas.number(places[i], order["name"]) for i in order["rows"]]
        means = [each.mean for each in found if each is not None]
        assert means == sorted(means, reverse=True)
        assert None not in found[: len(means)]
    for kind in page["kinds"]:
        own = [order for order in page["orders"] if order["column"] not in (None, *kind["lacks"])]
        assert {order["name"] for order in own} == set(atlas.numbers(kind["name"]))


def _texts(node: list[object] | str) -> list[str]:
    if isinstance(node, str):
        return [node]
    return [text for child in node[2:] for text in _texts(child)]  # type: ignore[arg-type]


def test_a_survey_is_a_file_of_a_folder_and_an_element_of_one_file() -> None:
    checkpoint = checkpoint_of("sentiment")
    places, files, elements = surveys_of([checkpoint], one_file=False)
    assert list(files) == [places["sentiment"]["path"]] and not elements
    ours = json.loads(files[places["sentiment"]["path"]])
    places, files, elements = surveys_of([checkpoint], one_file=True)
    assert not files and json.loads(elements[places["sentiment"]["element"]]) == ours
    assert Path(checkpoint.path).name in places
