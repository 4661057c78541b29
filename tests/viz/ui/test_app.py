"""The whole app without a browser: what it says to odd input and to damaged checkpoints."""

import json
import os
import random
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.representatives import cases, thorough
from transformer.checkpoint import About
from transformer.config import ModelConfig
from transformer.discover import discover
from transformer.formats.headscope import save_checkpoint
from transformer.tokenizer import SentencePieceTokenizer
from viz.components.kit.browser import unpack
from viz.components.kit.picture import NOTHING_LEFT
from viz.labels import literal
from viz.page_fields import CompareFields
from viz.screen import FIRST_PAGE, Screen, put
from viz.state.checkpoints import title
from viz.ui import header

ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "checkpoints" / "copy"
EXAMPLE = "3 7 2 9 4 11 5"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of checkpoints with the copy task in it."""
    shutil.copytree(SHIPPED, tmp_path / "copy")
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))
    return tmp_path


def start(menu: str = "", **query: str) -> AppTest:
    """The app at an address, its path as "page". menu: the key of one that is open."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    if menu:
        app.session_state[menu] = True  # as a press on its button
    turn(app, query.pop("page", FIRST_PAGE))
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception
    return app


def turn(app: AppTest, page: str) -> AppTest:
    """As a link to another page does; AppTest itself only knows pages that are files."""
    app._page_hash = calc_hash(page)
    return app


def widget(drawn: Iterable[Any], name: str) -> Any:
    """The widget of a field; a number behind its name says how often it was replaced."""
    (found,) = (each for each in drawn if each.key and each.key.partition(" ")[0] == name)
    return found


def screen(app: AppTest) -> Screen:
    """What the session keeps."""
    return app.session_state["session"].screen


def components(app: AppTest) -> set[str]:
    found = (component.proto.component_name for component in app.get("bidi_component"))
    return {name.split(".")[-1] for name in found}


def pictures(app: AppTest) -> list[dict[str, Any]]:
    """What the components on the page are told of what is shown."""
    found = (each.proto for each in app.get("bidi_component"))
    return [unpack(each.bytes)[0] for each in found if each.WhichOneof("data") == "bytes"]


def said(app: AppTest) -> str:
    shown = " ".join(element.value for element in (*app.warning, *app.error))
    return re.sub(r"\\(\W)", r"\1", shown)  # as it reads


def test_the_first_screen_needs_nothing(copied: Path) -> None:
    app = start()
    assert widget(app.text_input, "text").value == EXAMPLE
    assert {"head_grid", "head_view", "token_rows"} <= components(app)
    assert not said(app)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "type a sentence"),
        ("  \t ", "type a sentence"),
        ("3 4 cat", "“cat”"),
        ("3 " * 8, "8 tokens; copy takes at most 7"),
        ("3 " * 10_001, "20,001 characters; at most 20,000"),
        ("🙂", "numbers from 2 to 11"),
    ],
)
def test_what_cannot_be_read_leaves_the_last_result(copied: Path, text: str, answer: str) -> None:
    app = start()
    widget(app.text_input, "text").set_value(text).run()
    assert not app.exception
    assert answer in said(app)
    assert "head_view" in components(app)


def test_a_link_with_text_that_cannot_be_read_shows_the_example(copied: Path) -> None:
    app = start(text="3 4 cat")
    assert "“cat”" in said(app)
    assert "head_view" in components(app)


def damage_weights(copy: Path) -> None:
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1000])


def remove_weights(copy: Path) -> None:
    (copy / "model.safetensors").unlink()


def damage_config(copy: Path) -> None:
    (copy / "config.json").write_text("{")


def wrong_values(values: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Copies in which each field in turn has a value of each wrong type."""
    for key, own in values.items():
        for wrong in (None, True, 0.5, -1, 10**30, "a", [], ["a"], [[]], {}, {"a": 1}):
            if type(wrong) is not type(own):
                yield values | {key: wrong}


def test_one_damaged_folder_is_listed_as_such_and_harms_no_other(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    values = json.loads((folder / "copy" / "config.json").read_text())
    configs = [
        *wrong_values(values),
        *(values | {"model": model} for model in wrong_values(values["model"])),
        *(None, [], ["a"], 1, "a", {"model_type": ["a"]}, {"model_type": None}),
    ]
    for number, config in enumerate(configs):
        (folder / f"ill{number:04}").mkdir()
        (folder / f"ill{number:04}" / "config.json").write_text(json.dumps(config))
    shutil.copytree(folder / "copy", folder / "ill")
    (folder / "ill" / "config.json").write_text(json.dumps(values | {"model": {"family": ["a"]}}))
    os.mkfifo(folder / "ill0000" / "history.json")
    app = start(checkpoint="copy")
    assert not said(app)
    assert "head_view" in components(app)
    listed = widget(app.selectbox, "checkpoint").options
    assert len(listed) == len(configs) + 2
    assert "ill · damaged: config.json: family must be a name, not ['a']." in listed
    assert sum(" · damaged: " in each for each in listed) == len(configs) + 1
    widget(app.selectbox, "checkpoint").set_value("ill").run()
    assert said(app).startswith("ill: config.json: family must be a name, not ['a']. The other")
    assert said(app).endswith("not affected. Still shown: copy.")
    ours = [each for each in caplog.records if each.name.startswith("transformer")]
    assert ours == []  # each kind of damage is one that the format knows


@pytest.mark.parametrize("damage", [damage_weights, remove_weights, damage_config])
def test_a_damaged_checkpoint_is_named_and_the_others_stay(folder: Path, damage) -> None:
    shutil.copytree(folder / "copy", folder / "damaged")
    damage(folder / "damaged")
    app = start()
    widget(app.selectbox, "checkpoint").set_value("damaged").run()
    assert not app.exception
    assert said(app).startswith("damaged: ")
    assert "model.safetensors" in said(app) or "config.json" in said(app)
    widget(app.selectbox, "checkpoint").set_value("copy").run()
    assert not app.exception
    assert not said(app)
    assert "head_view" in components(app)


def test_a_checkpoint_is_never_another_without_a_word(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Removed, cut off and replaced while it is shown; and named by a link though it never was."""
    shutil.copytree(folder / "copy", folder / "other")
    # AppTest finds what is chosen by how it is listed now, where a browser says it as it was.
    monkeypatch.setattr(header, "_name_in_list", title)
    app = start(checkpoint="other")
    assert not said(app)
    shutil.rmtree(folder / "other")
    app.run()
    assert said(app) == "other is not here any more: copy is shown in its place."
    assert "head_view" in components(app)
    app.run()
    assert not said(app)

    weights = folder / "copy" / "model.safetensors"
    content, times = weights.read_bytes(), weights.stat()
    with weights.open("r+b") as opened:
        opened.truncate(5000)
    app.run()
    assert not app.exception
    assert said(app).startswith(
        "copy: model.safetensors is not a whole safetensors file: it is cut"
    )
    assert said(app).endswith("What it showed before stays on the page.")
    assert "head_view" in components(app)

    weights.write_bytes(content[:-2000] + bytes(2000))
    os.utime(weights, ns=(0, times.st_mtime_ns - 10**9))  # what was moved there may be older
    app.run()
    assert not said(app)
    (told,) = (re.sub(r"\\(\W)", r"\1", each.value) for each in app.info)
    assert told == "copy was saved anew since it was shown: this is the new one."
    app.run()
    assert not app.info

    app = start(checkpoint="elsewhere")
    assert said(app) == "There is no checkpoint elsewhere here: copy is shown."


def test_the_second_of_two_is_never_another_without_a_word(folder: Path) -> None:
    for name in ("other", "saved"):
        shutil.copytree(folder / "copy", folder / name)
    app = start(page="compare", checkpoint="copy", checkpoint_b="other")
    assert not said(app)
    shutil.rmtree(folder / "other")
    app.run()
    assert said(app) == "B cannot be shown: other is not here any more."
    assert "head_view" in components(app)

    app = start(page="compare", checkpoint="copy", checkpoint_b="saved")
    weights = folder / "saved" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-2000] + bytes(2000))
    app.run()
    told = [each.value.replace("\\", "") for each in app.info]
    assert told == ["B: saved was saved anew since it was shown: this is the new one."]
    app.run()
    assert not app.info and not said(app)

    app = start(page="compare", checkpoint="copy", checkpoint_b="elsewhere")
    assert said(app) == "B cannot be shown: there is no checkpoint elsewhere here."


def test_without_checkpoints_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(tmp_path))
    assert "make train" in said(start())


@pytest.mark.parametrize(
    "page", ["compare", *map(thorough, ("decode", "positions", "masks", "training"))]
)
def test_every_page_draws(copied: Path, page: str) -> None:
    app = start()
    turn(app, page).run()
    assert not app.exception
    assert app.get("plotly_chart") or app.get("bidi_component")


@pytest.fixture
def families(folder: Path, text_tokenizer: SentencePieceTokenizer) -> Path:
    """Beside the translator a classifier, and a generator that names neither examples nor heads."""
    sizes = {"d_model": 16, "d_ff": 16, "n_heads": 2, "positions": "learned", "max_len": 32}
    for name, examples, opens_at, more in (
        ("classifier", ("the cat",), ("encoder_self", 0, 0), {"classes": ("bad", "good")}),
        ("generator", (), About.opens_at, {}),
    ):
        family = {"classifier": "encoder_classifier", "generator": "decoder_only"}[name]
        config = ModelConfig(family, text_tokenizer.vocab_size, **sizes, **more)
        weights = discover("transformer.models", "FAMILY")[family].build(config).state_dict()
        about = About(f"A {name}", "none", "sentencepiece", examples, opens_at)
        save_checkpoint(folder / name, about, config, weights, text_tokenizer)
    return folder


@pytest.mark.parametrize("page", ["explore", thorough("compare"), thorough("decode"), "masks"])
def test_checkpoints_of_every_family_can_follow_each_other(families: Path, page: str) -> None:
    app = start(text="3 4")
    turn(app, page).run()
    widget(app.text_input, "text").set_value("a dog").run()
    for name in ("classifier", "generator", "copy", "generator", "classifier", "copy"):
        widget(app.selectbox, "checkpoint").set_value(name).run()
        assert not app.exception
        assert bool(said(app)) == (name == "copy")
        assert app.get("plotly_chart") or app.get("bidi_component")


def test_without_examples_a_text_is_asked_for(families: Path) -> None:
    app = start(checkpoint="generator")
    assert "type a sentence" in said(app)
    assert not app.get("plotly_chart")


def test_what_is_still_shown_is_shown_literally(families: Path) -> None:
    app = start(checkpoint="classifier", text="$5 or $6")
    widget(app.text_input, "text").set_value("").run()
    assert r"“\$5 or \$6”" in app.warning[0].value


def test_a_link_to_no_step_starts_at_the_first_or_the_last(copied: Path) -> None:
    for step, shown in (("x", "0"), ("-1", "0"), ("9" * 5000, "0"), ("99", "6")):
        app = start(page="decode", step=step)
        (player,) = (each for each in pictures(app) if "step" in each)
        assert player["step"] == int(shown)


def open_masks(**query: str) -> AppTest:
    app = start(**query)
    turn(app, "masks").run()
    assert not app.exception
    return app


def test_masks_of_a_batch_are_shown_with_their_combination(copied: Path) -> None:
    app = open_masks(masks="textbook")
    assert widget(app.text_input, "mask_text").value == "11 10 9 8"
    widget(app.text_input, "mask_text").set_value("4 5").run()
    assert not said(app)
    assert len(app.get("plotly_chart")) == 6
    assert "**Sentence 2** · 2 keys, 5 of padding" in [m.value for m in app.markdown]
    widget(app.button_group, "mask_kind").set_value("cross").run()
    assert not app.exception
    assert len(app.get("plotly_chart")) == 2


def test_a_second_sentence_that_cannot_be_read_leaves_the_example(copied: Path) -> None:
    app = open_masks()
    widget(app.text_input, "mask_text").set_value("4 cat").run()
    assert "“cat”" in said(app) and "11 10 9 8" in said(app)
    assert len(app.get("plotly_chart")) == 2


def test_an_untouched_second_sentence_follows_the_checkpoint(folder: Path) -> None:
    other = shutil.copytree(folder / "copy", folder / "other") / "config.json"
    other.write_text(other.read_text().replace("2 2 2 5 5 5 2", "9 9"))
    app = open_masks()
    widget(app.selectbox, "checkpoint").set_value("other").run()
    turn(app, "masks").run()
    assert widget(app.text_input, "mask_text").value == "9 9"
    assert not said(app)


def test_the_masks_of_a_generator_are_those_of_the_prompts(families: Path) -> None:
    app = open_masks(checkpoint="generator", text="the cat sees the sea.")
    widget(app.text_input, "mask_text").set_value("the cat").run()
    assert not app.exception
    texts = [m.value for m in app.markdown if m.value.startswith("**Sentence")]
    assert texts[0].endswith(" 0 of padding") and not texts[1].endswith(" 0 of padding")
    said_of_it = app.markdown[0].value
    assert "generator closes every later key here, and leaves padding open" in said_of_it


@pytest.mark.parametrize("picture", ["arrows", "map", "inside"])
def test_a_map_without_rows_is_said_to_be_empty(copied: Path, picture: str) -> None:
    app = start(text="3", kind="decoder_self", special="hidden", picture=picture)
    told = [info.value for info in app.info]
    assert told == ([] if picture == "inside" else [literal(NOTHING_LEFT)])


def test_heads_that_there_are_not_are_not_shown(copied: Path) -> None:
    (view,) = (each for each in pictures(start(heads="1,99")) if "heads" in each)
    assert view["heads"] == [1]


@pytest.mark.parametrize("cell", ["99,99", "1", "a,b", "0,-1", ""])
def test_a_cell_that_there_is_not_is_not_shown(copied: Path, cell: str) -> None:
    (view,) = (each for each in pictures(start(cell=cell, picture="map")) if "cell" in each)
    assert view["cell"] is None


def test_a_cell_in_the_address_is_shown(copied: Path) -> None:
    (view,) = (each for each in pictures(start(cell="1,2", picture="map")) if "cell" in each)
    assert view["cell"] == [1, 2]


def test_a_checkpoint_opens_by_its_path_and_follows_into_the_address(
    folder: Path, families: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "mine"
    shutil.move(str(families / "classifier"), elsewhere)
    app = start()
    widget(app.text_input, "open_text").set_value(str(elsewhere)).run()
    assert not app.exception and not said(app)
    assert widget(app.selectbox, "checkpoint").value == str(elsewhere)
    assert screen(app).checkpoint == str(elsewhere)
    widget(app.selectbox, "checkpoint").set_value("copy").run()
    assert screen(app).checkpoint is None
    link = start(checkpoint=str(elsewhere))
    assert widget(link.selectbox, "checkpoint").value == str(elsewhere)
    assert widget(app.text_input, "text").value == EXAMPLE


def test_what_cannot_be_opened_is_said_and_the_rest_stays(copied: Path) -> None:
    app = start()
    widget(app.text_input, "open_text").set_value("/no/where").run()
    assert "There is no" in said(app)
    assert "head_view" in components(app)
    app = start(checkpoint="/no/where")
    assert "There is no" in said(app)
    assert screen(app).checkpoint is None
    assert "head_view" in components(app)


def test_two_checkpoints_of_one_vocabulary_are_subtracted(folder: Path) -> None:
    shutil.copytree(folder / "copy", folder / "other")
    app = start()
    turn(app, "compare").run()
    widget(app.selectbox, "checkpoint_b").set_value("other").run()
    assert not app.exception
    captions = " ".join(caption.value for caption in app.caption)
    assert "B is given A's output" in captions
    (heads,) = (each.value for each in app.markdown if "These two heads" in each.value)
    assert "**0.0000 bits**" in heads and "**0.0000**:" in heads
    assert "Relative change" in app.dataframe[0].value.columns
    assert set(app.dataframe[0].value["Relative change"]) == {0.0}


def test_checkpoints_of_different_kinds_stand_side_by_side(folder: Path, families: Path) -> None:
    app = start()
    turn(app, "compare").run()
    widget(app.selectbox, "checkpoint_b").set_value("generator").run()
    assert not app.exception and not app.error
    assert not any("These two heads" in each.value for each in app.markdown)
    widget(app.selectbox, "checkpoint_b").set_value("copy").run()
    assert "This model copies numbers from 2 to 11" in said(app)


NAMES = ("picture", "kind", "topic", "view", "inspect", "decoding", "lens", "text", "cell", "heads")
GARBAGE = (
    "&".join(f"{name}=" for name in NAMES),
    "layer=99&head=99&step=99&position=99&top=99&kind=99&checkpoint=99&cell=99,99&pins=q99&heads=99"
    "&picture=map&tensor_rows=9,3&tensor_columns=0,99999999&snapshot=9&metric=?&show=?&sort=?"
    "&kind_b=?&layer_b=99&head_b=99&heads_b=99&cell_b=99,99&checkpoint_b=?&kind_circuit=?",
    "options.seed=1e400&options.beam_size=1e400&options.top_k=-3&tensor=?&epsilon=7&n=0&d=7"
    "&warmup=0&table=?&controls.side=?&controls.offset=0&controls.dimensions=,9999,x&picture=inside"
    "&mask_kind=?&mask_text=%00%F0&text=%E2%80%AE%00&split=%00&piece=%00&circuit_words=%00",
    *(
        f"inspect={part}&topic={part}&circuit_words=%00&tensor=%00"
        for part in ("circuits", "heads")
    ),
)


PAGES = discover("viz.pages", "PAGE")
EMPTY, BEYOND, NO_NUMBERS, CIRCUITS, HEADS = GARBAGE
OWN = ("decode", "inspect", "masks", "positions", "training", "why_attention")
"""Pages with fields of their own, which are no whole numbers."""
FEW = {f"heads, layers and steps of {page}": (page, BEYOND) for page in PAGES} | {
    "fields of all pages": ("explore", EMPTY),
    **{f"numbers of {page}": (page, NO_NUMBERS) for page in OWN},
    "a part of Inspect": ("inspect", CIRCUITS),
    "a part of Training": ("training", HEADS),
}


@pytest.mark.parametrize(
    ("page", "query"), cases([(page, each) for page in PAGES for each in GARBAGE], FEW)
)
def test_no_address_ends_a_page(copied: Path, page: str, query: str) -> None:
    app = start(page=page, **dict(parse_qsl(query, keep_blank_values=True)))
    assert screen(app).page == page


@pytest.mark.parametrize("page", ["explore", "decode", "inspect"])
def test_a_head_that_does_not_exist_leaves_the_address(copied: Path, page: str) -> None:
    """Field by field, and without an entry to which Back would lead."""
    app = start(page=page, checkpoint="copy", layer="99", head="1", kind="?", step="2", rows="read")
    assert screen(app) == Screen(page, checkpoint="copy", head=1, step=2, rows="read")
    bar = next(each for each in pictures(app) if "query" in each)
    assert bar["query"] == "checkpoint=copy&rows=read&head=1&step=2"
    assert (bar["number"], bar["n_entries"]) == (1, 0)


def test_the_other_heads_that_do_not_exist_leave_the_address_where_they_are_shown(
    copied: Path,
) -> None:
    app = start(page="compare", layer_b="99", head_b="1", kind_b="encoder_self")
    assert screen(app) == put(Screen("compare"), head_b=1, kind_b="encoder_self")
    app = start(page="inspect", inspect="circuits", head_circuit="99", layer_circuit="0")
    assert screen(app) == put(Screen("inspect"), inspect="circuits", layer_circuit=0)


@pytest.fixture
def two(folder: Path) -> None:
    """Another checkpoint beside the copy task: an encoder."""
    shutil.copytree(SHIPPED.with_name("sentiment"), folder / "sentiment")


@pytest.mark.usefixtures("two")
def test_a_second_checkpoint_without_the_head_of_the_first_is_one_entry() -> None:
    app = start(page="compare", checkpoint="copy", layer="1", kind="cross")
    widget(app.selectbox, "checkpoint_b").select("sentiment").run()
    own = screen(app).of(CompareFields)
    assert (own.checkpoint_b, own.kind_b) == ("sentiment", None)
    bar = next(each for each in pictures(app) if "query" in each)
    assert "kind_b" not in bar["query"] and bar["n_entries"] == 1


@pytest.mark.usefixtures("two")
def test_a_text_that_one_of_two_checkpoints_refuses_keeps_both_heads() -> None:
    said = {"checkpoint_b": "copy", "kind_b": "cross", "layer_b": "1", "head_b": "2"}
    app = start(page="compare", checkpoint="sentiment", text="3 4 5", head="1", **said)
    widget(app.text_input, "text").input("3 4 cat").run()
    assert "B cannot be shown" in app.warning[0].value
    own = screen(app).of(CompareFields)
    assert (own.kind_b, own.layer_b, own.head_b) == ("cross", 1, 2)
    assert screen(app).head == 1


@pytest.mark.usefixtures("two")
def test_a_lock_that_b_cannot_keep_says_so(folder: Path) -> None:
    shutil.copytree(SHIPPED, folder / "copy-2")
    head = {"kind": "cross", "layer": "0", "head": "1"}
    locked = {"checkpoint": "copy", "same_head": "yes", **head}
    app = start(page="compare", checkpoint_b="copy-2", head_b="3", **locked)
    assert "**B** · Cross L0 H1 of copy-2" in [m.value for m in app.markdown]
    app = start(page="compare", checkpoint_b="sentiment", **locked)
    (heading,) = (m.value for m in app.markdown if m.value.startswith("**B** ·"))
    assert re.sub(r"\\(\W)", r"\1", heading).endswith("of sentiment (it has no Cross L0 H1)")


def test_two_heads_that_are_not_locked_lack_nothing(copied: Path) -> None:
    at = {"layer": "0", "layer_b": "0"}
    app = start(page="compare", checkpoint="copy", kind="cross", head="1", head_b="2", **at)
    headings = [m.value for m in app.markdown if m.value.startswith("**")]
    assert headings[-2:] == ["**A** · Cross L0 H1", "**B** · Cross L0 H2"]


def test_a_checkpoint_that_does_not_exist_leaves_the_address(copied: Path) -> None:
    app = start(checkpoint="nowhere", layer="0")
    assert screen(app) == Screen(layer=0)
    bar = next(each for each in pictures(app) if "query" in each)
    assert (bar["query"], bar["n_entries"]) == ("layer=0", 0)


@pytest.mark.thorough  # as tests/fuzz/pages.py does it
def test_random_addresses_end_no_page(copied: Path) -> None:
    rng = random.Random(0)
    names = [*vars(Screen()), "options.seed", "controls.side", "x"]
    pages = list(discover("viz.pages", "PAGE"))
    for _ in range(20):
        address = {rng.choice(names): rng.randbytes(4).decode("latin-1") for _ in range(30)}
        address |= {rng.choice(names): str(rng.randrange(1000)) for _ in range(30)}
        start(**address | {"page": rng.choice(pages), "checkpoint": "copy"})
