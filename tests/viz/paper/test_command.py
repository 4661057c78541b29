"""python -m viz figure: a picture of an address, without a browser."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from transformer import decode, load_checkpoint, record
from transformer.checkpoint import checkpoints_folder
from viz.__main__ import main
from viz.commands.opening import read_figure

ADDRESS = "http://localhost:8501/?checkpoint=copy&text=3+7+2&kind=cross&layer=1&head=2&picture=map"


def saved(folder: Path, address: str, *more: str, kind: str = "svg") -> Path:
    file = folder / f"figure.{kind}"
    assert main(["figure", address, "--out", str(file), *more]) == 0
    return file


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_a_figure_has_the_numbers_of_its_address_and_leads_back_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    file = saved(tmp_path, ADDRESS, kind=kind)
    caption = capsys.readouterr().out
    assert (
        caption.startswith("Cross-attention, L1 H2, of the checkpoint copy (")
        and "“3 7 2”" in caption
    )
    found = read_figure(str(file))
    screen = found.screen
    assert (screen.page, screen.checkpoint, screen.text) == ("explore", "copy", "3 7 2")
    assert (screen.kind, screen.layer, screen.head, screen.picture) == ("cross", 1, 2, "map")
    assert found.sha256.startswith(str(screen.made_with)) and len(found.sha256) == 64
    assert found.caption == caption.strip()
    if kind == "svg":
        checkpoint = load_checkpoint(checkpoints_folder() / "copy", "cpu")
        text = screen.text
        weights = record(checkpoint, text, decode(checkpoint, text).target).attentions["cross"]
        tree = ElementTree.parse(file)
        (values,) = (it.get("data-weight") for it in tree.iter() if "data-weight" in it.attrib)
        expected = weights.weights(1, 2).numpy().ravel()
        np.testing.assert_allclose(np.array(values.split(), float), expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("more", ["", "&picture=arrows", "&picture=inside"])
def test_a_slide_is_filled_by_the_same_numbers_in_letters_for_a_wall(
    tmp_path: Path, more: str
) -> None:
    tree = ElementTree.parse(saved(tmp_path, ADDRESS + more, "--slide")).getroot()
    assert (tree.get("width"), tree.get("height")) == ("960pt", "540pt")
    paper = ElementTree.parse(saved(tmp_path, ADDRESS + more)).getroot()
    texts = [[node for node in each.iter() if node.tag.endswith("}text")] for each in (tree, paper)]
    assert [node.text for node in texts[0]] == [node.text for node in texts[1]]
    assert min(float(node.get("font-size", "0")) for node in texts[0]) >= 11
    large = [float(node.get("font-size", "0")) for node in texts[0]]
    small = [float(node.get("font-size", "0")) for node in texts[1]]
    assert len({round(a / b, 2) for a, b in zip(large, small, strict=True)}) == 1


def test_edits_of_an_address_are_in_its_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = saved(tmp_path, ADDRESS).read_bytes()
    edited = saved(tmp_path, f"{ADDRESS}&edits=head-off:encoder_self.0.1").read_bytes()
    assert plain != edited
    assert "Changed in the model: Encoder L0 H1 off." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("address", "names"),
    [
        ("./training?topic=rate&warmup=700", ["learning-rate"]),
        ("./training?topic=loss", ["loss-curve", "validation-scores"]),
        ("./training?topic=smoothing&epsilon=0.2", ["label-smoothing", "smoothing-parts"]),
        ("./masks?masks=textbook&mask_kind=cross", ["mask-1-padding", "mask-2-padding"]),
        ("./masks?mask_text=3+7", ["mask-1-combined", "mask-2-combined"]),
        ("./why_attention?n=50", ["operations", "sequential", "longest_path"]),
    ],
)
def test_pictures_that_plotly_draws_are_figures_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], address: str, names: list[str]
) -> None:
    for name in names:
        file = saved(tmp_path, f"{address}&checkpoint=copy", "--picture", name)
        tree = ElementTree.parse(file)
        assert len(list(tree.iter())) > 20  # lines or cells, and words
        assert read_figure(str(file)).screen.page == address[2:].partition("?")[0]
    saved(tmp_path, f"{address}&checkpoint=copy")  # of several the first
    is_of_text = "smoothing" in address  # a mask is of two sentences, and names both
    assert ("reading “3 7 2" in capsys.readouterr().out) is is_of_text


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (["./?checkpoint=nobody", "--out", "a.svg"], "There is no checkpoint nobody here"),
        (["./?checkpoint=copy", "--out", "a.gif"], "a.gif must end in .svg, .pdf, .png or .zip."),
        (["./?checkpoint=copy", "--out", "a.svg", "--data", "a.xls"], ".csv, .parquet or .npz."),
        (["./?checkpoint=copy", "--out", "a.svg", "--width", "900"], "inches wide"),
        (["./?checkpoint=copy", "--out", "a.svg", "--picture", "x"], "no picture x here"),
        (["./nowhere?checkpoint=copy", "--out", "a.svg"], "There is no page nowhere"),
        (["./no-page-1?checkpoint=copy", "--out", "a.svg"], "There is no page no-page-1"),
        (["./Decode?checkpoint=copy", "--out", "a.svg"], "There is no page Decode"),
        (["./gallery", "--out", "a.svg"], "There is no figure at this address"),
        (
            ["./?checkpoint=copy&haed=2&layer=x&head=1", "--out", "a.svg"],
            "error: The address says haed=2, layer=x, which cannot be read.",
        ),
        (["./?checkpoint=copy&text=hello", "--out", "a.svg"], "hello"),
    ],
)
def test_what_cannot_be_drawn_ends_in_a_sentence(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    said: list[str],
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["figure", *said]) == 1
    error = capsys.readouterr().err
    assert why in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_what_is_no_figure_is_not_opened(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.svg"
    other.write_text("<svg/>")
    for path, why in ((other, "carries no state"), (tmp_path / "none.svg", "is missing")):
        assert main(["open", str(path)]) == 1
        assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("./compare?checkpoint=copy&checkpoint_b=nobody", "nobody"),
        ("./compare?checkpoint=en-de&text=hello&checkpoint_b=copy", "hello"),
    ],
)
def test_a_b_that_cannot_be_shown_ends_in_a_sentence(
    address: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["figure", address, "--out", str(tmp_path / "a.svg")]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("error: ") and why in last
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "place",
    [
        "?kind=cros&layer=1",
        "?kind=cross&layer=9",
        "?kind=cross&layer=1&head=30",
        "?layer=99&head=99",  # of the kind that is shown where none is named
        "?head=30",
        "compare?kind_b=nope",
        "compare?layer_b=99",
        "compare?kind_b=cross&head_b=30",
        "compare?method_b=sample&layer_b=99",
    ],
)
def test_a_head_that_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    """A file of another head, which stood there instead, would be cited as the one asked for."""
    address = f"./{place}&checkpoint=copy&text=3+7+2"
    assert main(["figure", address, "--out", str(tmp_path / "figure.svg")]) == 1
    assert "There is no " in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("port", ["0", "65536", "-1", "x"])
def test_a_port_that_there_cannot_be(port: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--port", port, "--quiet"])
    assert ended.value.code == 2
