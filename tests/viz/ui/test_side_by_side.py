"""Methods side by side on Decode."""

import pytest

from transformer import InputError, decode, load_checkpoint
from transformer.words import words_of
from viz.exhibits.exhibit import Words
from viz.exhibits.table import Table
from viz.figure_at import page_of
from viz.pages.decode import side_by_side
from viz.run.line import Runner
from viz.run.request import Answer, Request
from viz.run.work import finish
from viz.screen import parse

TEXT = "I am allergic to nuts. Are there any in the cake?"
PAGE = {"page": "decode", "checkpoint": "en-de", "text": TEXT, "side_by_side": "yes"}


def test_each_method_has_its_text_and_what_it_costs() -> None:
    _, exhibits = page_of(parse(PAGE))
    content, table = exhibits["methods"].content, exhibits["partings"].content
    assert isinstance(content, Words) and isinstance(table, Table)
    checkpoint = load_checkpoint("checkpoints/en-de", "cpu")
    lines = {line.title.split(",")[0]: line for line in content.lines}
    assert next(iter(lines)) == "Beam search"
    greedy = decode(checkpoint, TEXT)
    words = "".join(span.text for span in lines["Greedy"].spans)
    assert words == greedy.text.replace(" ", "") + "</s>"
    probability = 1.0
    for span in lines["Greedy"].spans:
        probability *= span.value or 0.0
    assert probability == pytest.approx(2.718281828**greedy.log_prob, rel=1e-3)
    assert not any(span.role for span in lines["Beam search"].spans)
    n_new = sum(span.role == "new" for span in lines["Greedy"].spans)
    n_rows = sum(row.head.text == "Greedy" for row in table.rows)
    assert n_rows <= n_new and bool(n_new) == (greedy.text != decode(checkpoint, TEXT, "beam").text)


def test_there_is_nothing_unasked() -> None:
    assert "methods" not in page_of(parse({**PAGE, "side_by_side": ""}))[1]


def test_a_branch_stands_beside_what_its_search_chose() -> None:
    at = {**PAGE, "checkpoint": "en-de-small", "text": "She likes nuts.", "decoding": "beam"}
    search = page_of(parse({**at, "side_by_side": ""}))[0].answer.decoding
    assert search is not None
    branch = search.hypotheses[1].ids
    other = {"branch": ".".join(map(str, branch)), "forbid": str(search.vocab_size - 1)}
    content = page_of(parse({**at, **other}))[1]["methods"].content
    assert isinstance(content, Words)
    lines = {
        line.title.rpartition(", ")[0]: [it.text for it in line.spans] for line in content.lines
    }
    assert lines["Branch, corrected"] != words_of(search.target)
    assert lines["Beam search, corrected"] == words_of(search.target) == lines["Beam search"]


def test_a_method_that_cannot_is_named_and_the_others_have_their_texts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(request: Request, runner: Runner) -> Answer:
        if request.method == "greedy":
            raise InputError("There is no room for it.")
        return finish(request, runner)

    monkeypatch.setattr(side_by_side, "finish", refuse)
    at = {**PAGE, "checkpoint": "en-de-small", "text": "She likes nuts.", "decoding": "beam"}
    content = page_of(parse(at))[1]["methods"].content
    assert isinstance(content, Words)
    lines = {line.title.split(", ")[0]: line for line in content.lines}
    assert [span.text for span in lines["Greedy"].spans] == ["There is no room for it."]
    assert lines["Sampling"].measure
