"""The lab on Positions without a browser: edits of positions, all heads, a curve and four terms."""

import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.transformer.watch.hugging_face import build
from tests.viz.ui.test_app import families, folder, said, screen, start, widget
from tests.viz.ui.test_experiment import outputs, press
from transformer import decode, load_checkpoint, record
from transformer.analysis.proofs import position_dependence
from transformer.analysis.score_terms import score_terms

__all__ = ["families", "folder"]

TEXT = "3 9 4 7"
SPLIT = 'aria-label="Terms of the score"'


def opened(**query: str) -> AppTest:
    app = start(page="positions", view="lab", **{"decoding": "greedy"} | query)
    assert not app.exception
    return app


def drawn(app: AppTest, name: str) -> str:
    return " ".join(each.proto.body for each in app.get("html") if name in each.proto.body)


def bits(app: AppTest) -> list[float]:
    return [
        float(each)
        for each in re.findall(
            r'title="[^"]*: ([\d.]+) bits"', drawn(app, "1 bit (square-root scale)")
        )
    ]


def expected(folder: Path, *edits: str) -> list[float]:
    checkpoint = load_checkpoint(folder / "copy")
    target = decode(checkpoint, TEXT).target
    found = position_dependence(checkpoint, TEXT, target, edits or None)
    return [value for each in found.values() for value in each.flatten().tolist()]


def test_sliders_and_buttons_make_the_edits_of_the_address(folder: Path) -> None:
    app = opened(text=TEXT)
    assert bits(app) == pytest.approx(expected(folder), abs=1e-4)  # of no positions at all
    widget(app.slider, "shift").set_value(3).run()
    assert screen(app).edits == ("positions-shift:source=3",)
    assert bits(app) == pytest.approx(expected(folder, *screen(app).edits), abs=1e-4)
    widget(app.slider, "scale").set_value(0.5).run()
    press(app, "Swap words")
    edits = ("positions-scale:source=0.5", "words-swap:source=0,3", "positions-shift:source=3")
    assert screen(app).edits == edits
    assert bits(app) == pytest.approx(expected(folder, *edits), abs=1e-4)
    written = decode(load_checkpoint(folder / "copy"), TEXT, edits=edits).text
    assert written in " ".join(outputs(app).split())
    widget(app.slider, "scale").set_value(1.0).run()
    widget(app.slider, "shift").set_value(0).run()
    assert screen(app).edits == ("words-swap:source=0,3",)
    press(app, "Undo")
    assert screen(app).edits[-1] == "positions-shift:source=3"
    press(app, "All off")
    assert screen(app).edits == () and not drawn(app, 'class="text-lines"')
    assert bits(app) == pytest.approx(expected(folder), abs=1e-4)


def test_four_terms_and_biases_sum_to_the_score(folder: Path) -> None:
    app = opened(text=TEXT, kind="encoder_self", layer="0", head="1", cell="2,1")
    split = drawn(app, SPLIT)
    texts = re.findall(r'data-value="[^"]*">([^<]*)<', split)
    texts += re.findall(r" biases ([^ ]*) ", split)
    terms = [float(text.replace("−", "-")) for text in texts]
    total = float(re.findall(r"= score <b>([^<]*)<", split)[0].replace("−", "-"))
    assert len(terms) == 5 and sum(terms) == pytest.approx(total, abs=0.004)
    checkpoint = load_checkpoint(folder / "copy")
    recording = record(checkpoint, TEXT, decode(checkpoint, TEXT).target)
    found = score_terms(checkpoint, recording, "encoder_self", 1)
    assert total == pytest.approx(float(found.score[2, 1]), abs=6e-4)
    app = opened(text=TEXT, kind="cross", layer="1", head="0")
    assert not drawn(app, SPLIT) and "stand at no offset" in said_anywhere(app)
    press(app, "Show Encoder L0 H0")
    assert drawn(app, SPLIT)


def said_anywhere(app: AppTest) -> str:
    return " ".join(each.value for each in (*app.caption, *app.info)).replace("\\", "")


def test_a_shift_beyond_the_table_is_a_sentence(copied: Path) -> None:
    app = opened(text=TEXT, edits="positions-shift:source=99999")
    assert "this model has positions 0 to" in said(app) or "was dropped" in said_anywhere(app)
    assert screen(app).edits == () and bits(app)


@pytest.mark.parametrize("name", ["classifier", "generator"])
def test_models_of_every_family(families: Path, name: str) -> None:
    app = opened(checkpoint=name, text="the cat", edits="positions-scale:text=2", decoding="")
    assert screen(app).edits == ("positions-scale:text=2",)
    assert max(bits(app)) > 0 and drawn(app, SPLIT)


@pytest.mark.parametrize(
    ("family", "says"),
    [
        ("Llama", "adds no encodings to its words"),
        ("BLOOM", "words that all move by as much attend as before"),
        ("GPT-2", "With the norm frozen"),
        ("Marian", "Exact: no norm stands between"),
        ("T5", "there is nothing of one word to scale or to swap"),
    ],
)
def test_opened_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, family: str, says: str
) -> None:
    """Whatever tells their positions apart, it is taken away, and heads notice."""
    build(family).save_pretrained(tmp_path / family)
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))
    app = opened(checkpoint=family, text="7 9 11 13")
    assert max(bits(app)) > 1e-4 and says in said_anywhere(app)
    press(app, "Swap words")
    assert screen(app).edits[0].startswith("words-swap:") and max(bits(app)) > 1e-4
