"""The page that inspects a checkpoint, without a browser: whole, damaged, of each family."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from streamlit.testing.v1 import AppTest

from tests.golden.screens import charts_in
from tests.transformer.damaged import damaged
from tests.transformer.formats import codebases
from tests.transformer.watch.hugging_face import build
from tests.viz.ui.test_app import screen, start, widget
from transformer.inspection.circuits import copying_scores
from transformer.inspection.survey import survey
from transformer.inspection.tensor_statistics import statistics
from viz.page_fields import InspectFields
from viz.run.cache import CACHE, forget

ROOT = Path(__file__).parents[3]
SHIPPED = ROOT / "checkpoints"
NAME = "encoder.layers.0.feed_forward.inner.weight"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A whole checkpoint, and one with NaN in a tensor that lacks another."""

    def damage(weights: dict[str, torch.Tensor]) -> None:
        weights[NAME][2, 3] = torch.nan
        del weights["decoder.layers.0.self_residual.norm.bias"]

    (tmp_path / "copy").symlink_to(SHIPPED / "copy")
    damaged(SHIPPED / "copy", tmp_path / "work", damage).rename(tmp_path / "damaged")
    return use(tmp_path, monkeypatch)


def use(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADSCOPE_CHECKPOINTS", str(folder))
    forget()
    CACHE.clear()
    return folder


def inspect(part: str = "modules", **query: str) -> AppTest:
    app = start(page="inspect", inspect=part, **query)
    assert not app.exception
    return app


def texts(app: AppTest) -> str:
    return " ".join(element.value for element in (*app.markdown, *app.info, *app.caption))


def test_modules_with_their_shares(folder: Path) -> None:
    app = inspect()
    table, found = app.dataframe[0].value, survey(folder / "copy")
    assert list(table["Parameters"]) == [branch.n_parameters for branch in found.tree]
    top = table[~table["Module"].str.startswith("\u2003")]
    assert top["Share"].sum() == pytest.approx(100)
    assert "Nothing suspicious" in texts(app)
    assert "is one matrix for source and target embeddings" in texts(app)


def test_what_many_tensors_share_is_one_line_that_opens(folder: Path) -> None:
    def clear(weights: dict[str, torch.Tensor]) -> None:
        for name in weights:
            if name.endswith("bias"):
                weights[name].zero_()

    cleared = damaged(SHIPPED / "copy", folder / "work" / "again", clear).rename(folder / "cleared")
    app = inspect()
    widget(app.selectbox, "checkpoint").set_value("cleared").run()
    (opens,) = app.expander
    names = [each.tensor for each in survey(cleared).findings]
    title = opens.label.replace("\\", "")
    assert title.startswith(f"{len(names)} biases are 0: {names[0]}, {names[1]} and ")
    assert opens.markdown[0].value.count("every value is 0") == len(names) > 40


def test_a_damaged_checkpoint_is_inspected_though_it_cannot_run(folder: Path) -> None:
    app = inspect()
    widget(app.selectbox, "checkpoint").set_value("damaged").run()
    assert not app.exception
    said = texts(app).replace("\\", "")
    assert f"{NAME}: 1 of 8,192 values is NaN." in said
    assert "self_residual.norm.bias: missing; config.json asks for 64." in said
    widget(app.segmented_control, "inspect").set_value("circuits").run()
    assert "whole" in app.info[0].value
    widget(app.segmented_control, "inspect").set_value("tensor").run()
    widget(app.selectbox, "tensor").set_value(NAME).run()
    assert not app.exception
    assert app.table[0].value["value"]["finite values"] == "8,191 of 8,192"
    assert "not finite" in app.info[0].value


def test_a_file_cut_short_ends_in_one_sentence(folder: Path) -> None:
    file = folder / "damaged" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-8])
    app = inspect()
    widget(app.selectbox, "checkpoint").set_value("damaged").run()
    assert not app.exception
    assert "is not a whole safetensors file" in app.error[-1].value.replace("\\", "")


def test_the_numbers_of_a_tensor(folder: Path) -> None:
    app = inspect("tensor", tensor=NAME)
    widget(app.selectbox, "tensor").set_value(NAME).run()
    expected = statistics(load_file(folder / "copy" / "model.safetensors")[NAME].float())
    shown = app.table[0].value["value"]
    assert shown["L2 norm"] == f"{expected.l2:.6g}"
    assert shown["effective rank"] == f"{expected.effective_rank:.2f} of 64"
    assert len(app.get("plotly_chart")) == 2
    (bars,) = (name for each in app.get("html") for name in charts_in(each.proto.body))
    assert bars.startswith("Histogram of 8,192 values")
    widget(app.slider, "tensor_rows").set_value((2, 9)).run()
    assert screen(app).of(InspectFields).tensor_rows == (2, 9)
    widget(app.selectbox, "tensor").set_value("encoder.layers.0.feed_forward.inner.bias").run()
    assert not app.exception  # a vector has one row
    assert screen(app).of(InspectFields).tensor_rows is None


@pytest.mark.parametrize(("kind", "figures"), [("encoder_self", 3), ("cross", 2)])
def test_circuits_of_numbers(folder: Path, kind: str, figures: int) -> None:
    app = inspect("circuits")
    widget(app.segmented_control, "kind_circuit").set_value(kind).run()
    widget(app.text_input, "circuit_words").set_value("3 4 3 5").run()
    assert not app.exception
    assert len(app.get("plotly_chart")) == figures
    assert ("no pure token form" in texts(app)) == (kind == "cross")
    widget(app.text_input, "circuit_words").set_value("cat").run()
    assert "“cat”" in app.warning[0].value


def test_the_vocabulary_is_searched_and_a_text_splits(folder: Path) -> None:
    app = inspect("vocabulary")
    assert len(app.dataframe[0].value) == 12
    widget(app.text_input, "piece").set_value("1").run()
    assert list(app.dataframe[0].value["Id"]) == [1, 10, 11]
    widget(app.text_input, "split").set_value("3 4").run()
    assert "2 tokens" in texts(app)


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small BERT with a WordPiece vocabulary, as the library saves it."""
    from transformers import BertTokenizer

    words = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on mat un ##happ ##y ."
    model: Any = build("BERT")
    model.save_pretrained(tmp_path / "bert")
    vocabulary = {word: i for i, word in enumerate(words.split())}
    BertTokenizer(vocab=vocabulary).save_pretrained(tmp_path / "bert")
    return use(tmp_path, monkeypatch)


def test_a_folder_of_hugging_faces_is_inspected_like_ours(foreign: Path) -> None:
    app, found = inspect(), survey(foreign / "bert")
    assert f"**{found.n_parameters:,}** parameters" in texts(app)
    assert "is also cls.predictions.decoder.weight." in texts(app).replace("\\", "")
    widget(app.segmented_control, "inspect").set_value("circuits").run()
    widget(app.selectbox, "head_circuit").set_value(2).run()
    score = float(copying_scores(found.heads, "encoder_self")[0, 2])
    assert f"L0 H2 has the copying score **{score:.4f}**".replace("-", "−") in texts(app)
    assert len(app.get("plotly_chart")) == 3
    widget(app.segmented_control, "inspect").set_value("positions").run()
    assert "bert.embeddings.position_embeddings.weight" in texts(app).replace("\\", "")
    widget(app.segmented_control, "inspect").set_value("vocabulary").run()
    widget(app.text_input, "piece").set_value("##").run()
    assert list(app.dataframe[0].value["Id"]) == [11, 12]
    widget(app.text_input, "split").set_value("the unhappy cat").run()
    assert "7 tokens" in texts(app)
    assert not app.exception


def test_heads_that_are_not_found_end_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model: Any = build("XLNet")
    model.save_pretrained(tmp_path / "xlnet")
    use(tmp_path, monkeypatch)
    app = inspect("circuits")
    assert "where XLNetLMHeadModel keeps the projections" in app.info[0].value
    app = inspect("positions")
    assert "None of its tensors is named like a table" in app.info[0].value


def test_positions_only_where_they_are_learned(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = inspect()
    assert "Positions" not in widget(app.segmented_control, "inspect").options
    app = inspect("positions")  # an address that worked says why there is nothing
    assert "no learned positions" in app.info[0].value
    assert "Positions" in widget(app.segmented_control, "inspect").options
    other = tmp_path / "other"
    other.mkdir()
    (other / "sentiment").symlink_to(SHIPPED / "sentiment")
    use(other, monkeypatch)
    assert len(inspect("positions").get("plotly_chart")) == 1


def test_tensors_of_unknown_code_are_inspected_and_what_is_missing_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network of nobody's: its tensors, their health, its table of positions; no circuits."""
    state = {
        "stem.weight": torch.randn(6, 4),
        "stem.position_embedding.weight": torch.randn(5, 4),
        "head.weight": torch.full((3, 6), torch.nan),
    }
    (tmp_path / "own").mkdir()
    torch.save({"state_dict": state, "config": {"width": 6}}, tmp_path / "own" / "net.pth")
    use(tmp_path, monkeypatch)
    app = inspect(checkpoint="own")
    said = texts(app).replace("\\", "")
    assert app.dataframe[0].value["Parameters"].iloc[0] == 44
    assert "net.pth: cannot run here: no mapping says which of its tensors is what" in said
    assert "head.weight: 18 of 18 values are NaN." in said
    for part in ("tensor", "circuits", "vocabulary"):
        widget(app.segmented_control, "inspect").set_value(part).run()
        assert not app.exception
    assert "how a text is split is not known" in app.error[-1].value
    widget(app.segmented_control, "inspect").set_value("positions").run()
    assert "stem.position_embedding.weight" in texts(app).replace("\\", "")


def test_a_known_codebase_that_lacks_a_number_is_inspected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    case = codebases.annotated(tmp_path / "own")
    (tmp_path / "own" / "headscope.json").unlink()
    found = survey(case.folder)
    assert found.about.title == "The Annotated Transformer, which does not open"
    assert found.n_parameters == 11_175
    (finding,) = found.findings
    assert finding.problem.startswith("cannot run here: does not say how many heads")


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True:UserWarning")
def test_a_source_splits_into_its_own_vocabulary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a model that reads one and writes another: ids are the source's."""
    (tmp_path / "own").mkdir()
    codebases.torch_transformer(tmp_path / "own")
    for side, n in (("source", codebases.SOURCES), ("target", codebases.TARGETS)):
        pieces = ["<unk>", "<pad>", "<bos>", "<eos>", *(f"{side}{i}" for i in range(n - 4))]
        (tmp_path / "own" / f"vocab.{side}.txt").write_text("\n".join(pieces))
    use(tmp_path, monkeypatch)
    app = inspect("vocabulary", checkpoint="own", split="source3 source1")
    split = [it.proto.body for it in app.get("html")]
    assert any("source3" in it and "source1" in it for it in split)
    assert not any("target3" in it for it in split)
    assert "that are written" in texts(app)
