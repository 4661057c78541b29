"""A figure's numbers as tables, and the crate of all that makes it again."""

import csv
import hashlib
import io
import json
import math
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

import numpy as np
import pandas
import pytest

from transformer.extras import NotInstalled
from transformer.recording import Recording
from viz.paper.crate import command, crate
from viz.paper.figure import PAGE, rows, table
from viz.paper.record import LARGEST, FigureError, Record, read_record


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_table_has_every_number_that_is_drawn(
    figure_of: Callable, hostile: Recording, kind: str
) -> None:
    content = figure_of("head_map").table(kind)
    read = pandas.read_csv if kind == "csv" else pandas.read_parquet
    found = read(io.BytesIO(content))
    weights = hostile.attentions["cross"].weights(1, 0).numpy()
    assert found.shape[0] == weights.size
    for row, column, weight in zip(found["row"], found["column"], found["weight"], strict=True):
        assert weight == pytest.approx(float(weights[row, column]), rel=1e-6)


def test_rows_of_other_names_leave_cells_empty() -> None:
    lines = [
        {"row": 0, "weight": 0.5},
        {"weight": math.nan, "token": "é"},
        {"row": "", "token": ""},
    ]
    content = table(lines, "parquet")
    assert import_module("pyarrow.parquet").read_table(io.BytesIO(content)).to_pydict() == {
        "row": [0, None, None],
        "weight": [0.5, None, None],
        "token": [None, "é", ""],
    }


def test_without_pyarrow_it_is_said_what_is_needed(
    figure_of: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        NotInstalled, match=r"^pyarrow is not installed here: .*\[parquet\].* \.csv"
    ):
        figure_of("head_map").table("parquet")


def test_a_crate_says_what_is_in_it(figure_of: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    plain = figure_of("head_view", head=0)
    figure = replace(plain, numbers=lambda: {"recording.npz": b"numbers"})
    content = crate(figure, PAGE)
    assert content == crate(figure, PAGE)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    said = json.loads(files.pop("ro-crate-metadata.json"))
    assert said["@context"] == "https://w3id.org/ro/crate/1.1/context"
    graph = {each["@id"]: each for each in said["@graph"]}
    assert graph["ro-crate-metadata.json"]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    root = graph["./"]
    assert root["@type"] == "Dataset" and root["datePublished"] == "1970-01-01"
    assert {part["@id"] for part in root["hasPart"]} == set(files)
    for name, held in files.items():
        assert graph[name]["sha256"] == hashlib.sha256(held).hexdigest()
        assert graph[name]["contentSize"] == str(len(held))
    action = graph[root["mentions"]["@id"]]
    assert graph[root["license"]["@id"]]["@type"] == "CreativeWork"
    for one in (action["instrument"], *action["object"], *action["result"]):
        assert one["@id"] in graph
    assert graph["#checkpoint"]["identifier"] == f"sha256:{figure.record.sha256}"
    assert files["figure.svg"] == figure.file("svg", PAGE)
    assert read_record(files["figure.pdf"]) == figure.record
    assert figure.record.link in files["command.txt"].decode()
    assert "--theme" not in files["command.txt"].decode()
    assert " --theme dark " in command(replace(figure, theme="dark"), PAGE)
    table_of = list(csv.DictReader(io.StringIO(files["numbers.csv"].decode())))
    drawn = [row["weight"] for row in rows(figure.sheet(PAGE)) if "weight" in row]
    np.testing.assert_allclose([float(row["weight"]) for row in table_of], drawn)
    assert read_record(content, "a.zip") == figure.record
    assert "caption" not in files["caption.txt"].decode()
    assert files["requirements.txt"].startswith(b"# Python 3")


def zipped(**files: bytes) -> bytes:
    """Under each name, with an underscore for the dot."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("_", "."), content)
    return packed.getvalue()


def test_a_zip_is_opened_by_the_first_figure_in_it(record: Record) -> None:
    figure = b"%PDF " + record.state.encode()
    for others in ({}, {"other_svg": b"<svg/>", "notes_txt": b"x"}):
        assert read_record(zipped(**others, figure_pdf=figure)) == record


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (zipped(), "carries no state"),  # a zip of nothing begins like no zip
        (zipped(figure_txt=b"headscope-figure:"), "holds no figure of Headscope: give a ZIP that"),
        (zipped(other_svg=b"<svg/>"), "holds no figure of Headscope: give a ZIP that"),
        (
            zipped(figure_svg=bytes(LARGEST + 1)),
            "holds more than 67,108,864 bytes when it is unpacked: save the crate again",
        ),
        (zipped(figure_svg=b"<svg/>")[:-9], "is a zip that is damaged: save the crate again"),
    ],
)
def test_a_zip_that_cannot_be_opened_is_refused_in_a_sentence(content: bytes, why: str) -> None:
    with pytest.raises(FigureError, match=rf"^a\.zip {why}.*\.$"):
        read_record(content, "a.zip")
