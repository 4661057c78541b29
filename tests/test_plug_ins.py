"""One new file of each kind, dropped into a copy of the tree, is at work: nothing else is edited.

The files are in tests/plug_ins/, as they would stand in the tree.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
NEW = Path(__file__).parent / "plug_ins"


RUN = """
import runpy, sys
for script in sys.argv[1:]:
    try:
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        assert not ended.code
"""


@pytest.fixture(scope="module")
def printed(tree: Path) -> list[dict[str, Any]]:
    """What the scripts of tests/plug_ins print, one after the other in one process."""
    scripts = ("at_work.py", "at_work_on_screen.py")
    for script in scripts:
        shutil.copy(NEW / script, tree / script)
    variables = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", RUN, *scripts]
    done = subprocess.run(command, cwd=tree, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    facts = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(facts) == len(scripts)
    return facts


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what runs, compiled as it is, with the new files; the checkpoint's are linked."""
    tree = tmp_path_factory.mktemp("tree")
    for name in ("transformer", "viz"):
        shutil.copytree(ROOT / name, tree / name)
    for name in ("app.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tree)
    (tree / "checkpoints").mkdir()
    (tree / "checkpoints" / "copy").symlink_to(ROOT / "checkpoints" / "copy")
    for room in ("transformer", "viz"):
        for file in (*(NEW / room).rglob("*.py"), *(NEW / room).rglob("*.md")):
            place = tree / file.relative_to(NEW)
            assert not place.exists() and place.parent.is_dir()
            shutil.copy(file, place)
    return tree


@pytest.fixture(scope="module")
def found(printed: list[dict[str, Any]]) -> dict[str, Any]:
    """Kind -> what came of its new file."""
    return printed[0]


def test_a_metric_is_measured(found: dict[str, Any]) -> None:
    """2 to the power of a mean lies below the mean of 2 to the power."""
    pairs = zip(found["metric"]["spread"], found["metric"]["entropy"], strict=True)
    assert all(1 <= 2**entropy <= spread + 1e-4 for spread, entropy in pairs)


def test_a_lens_is_read_through(found: dict[str, Any]) -> None:
    assert found["lens"]["title"] == "Above even"
    assert found["lens"]["row"] == pytest.approx(0, abs=1e-6)


def test_a_method_decodes_from_the_command_line(found: dict[str, Any]) -> None:
    first, second = found["method"]["texts"]
    assert first == found["method"]["greedy"] != second
    assert found["method"]["for"] == "ranked"


def test_an_edit_changes_what_is_decoded(found: dict[str, Any]) -> None:
    new, same, plain = found["edit"]
    assert new == same != plain


def test_a_family_is_built_decoded_recorded_and_inspected(found: dict[str, Any]) -> None:
    assert found["family"]["shape"] == [2, 6, 6]  # four numbers read, three written, one unread
    assert found["family"]["family"] == "Reader and writer"
    assert "Nothing is shared here." in found["family"]["ties"]


def test_a_format_opens_a_folder(found: dict[str, Any]) -> None:
    assert found["format"]["text"] == found["method"]["greedy"]
    assert found["format"]["parameters"] > 100_000


def test_a_mapping_translates(found: dict[str, Any]) -> None:
    assert found["mapping"] == {"title": "Letters for names, 2 layers of 3 heads", "same": True}


def test_a_recipe_is_listed(found: dict[str, Any]) -> None:
    assert "short-copy" in found["recipe"]["help"]


def test_a_command_runs_in_a_shell(found: dict[str, Any]) -> None:
    assert re.search(r"^ +count +count the parameters", found["shell_command"]["help"], re.M)
    thousands = found["shell_command"]["result"]["thousands"]
    assert thousands * 1000 == found["format"]["parameters"]


def test_a_role_is_surveyed(found: dict[str, Any]) -> None:
    assert found["role"]["middle_chance"] == pytest.approx(1 / 4)
    assert 0 < found["role"]["middle"] < 1


def test_an_engine_runs_shards(found: dict[str, Any]) -> None:
    engine = found["engine"]
    assert "backwards: the last shard first" in " ".join(engine["help"].split())
    assert engine["lines"] > 3 and engine["same"]


def test_a_task_is_asked_in_a_lesson(found: dict[str, Any]) -> None:
    assert found["task"]["asked"].startswith("Which word does the row ‘")
    assert found["task"]["weights"] == sorted(found["task"]["weights"], reverse=True)
    assert found["task"]["lesson"] == "A second look"


@pytest.fixture(scope="module")
def screen(printed: list[dict[str, Any]]) -> dict[str, Any]:
    """What is on the screen of the app that has the new files, and then of the new family."""
    return printed[1]


def test_a_page_is_in_the_navigation(screen: dict[str, Any]) -> None:
    assert screen["titles"][0] == "Explore" and screen["titles"][-1] == "Numbers"
    assert "3 kinds of attention in copy" in screen["numbers"][0]


def test_a_choice_of_a_page_survives_in_its_address(screen: dict[str, Any]) -> None:
    _, chosen, opened = screen["numbers"]
    assert any(re.fullmatch(r"\d+ layers of attention in copy", text) for text in chosen)
    assert opened == chosen
    address, of_other = screen["address"]
    assert address == {"page": "numbers", "numbers_of": "layers"}
    assert of_other == {"page": "numbers", "checkpoint": "other"}
    assert screen["unread"] == ["numbers_of=heads"]


def test_a_table_is_on_screen_on_a_wall_in_a_pdf_and_in_a_csv(screen: dict[str, Any]) -> None:
    """Of a page that declares it and draws nothing by itself."""
    (page,), (wall,), (pdf, caption, csv) = screen["table"]
    assert all(each.count('scope="row"') == 3 and "Encoder" in each for each in (page, wall))
    assert pdf == "%PDF-" and "The sizes of 3 kinds of attention" in caption
    lines = csv.splitlines()
    numbers = [line for line in lines if "largest weight" in line]
    assert len(lines) == 10 and len(numbers) == 3


def test_words_are_on_screen_on_a_wall_in_a_pdf_and_in_a_csv(screen: dict[str, Any]) -> None:
    """They say themselves to those who do not see them, and in the caption."""
    (page,), (wall,), (pdf, caption, csv) = screen["words"]
    assert all(each.count("data-value=") == 3 and "Encoder" in each for each in (page, wall))
    assert pdf == "%PDF-"
    names, *rows = (line.split(",") for line in csv.splitlines())
    numbers = [row[-1] for row in rows if row[-1]]
    assert names == ["line", "text", "role", "measure", "value"]
    assert len(rows) == 9 and len(numbers) == 3
    assert all(f"most ({float(each):.3f})" in caption for each in numbers)


def test_a_chart_is_on_a_wall_in_a_pdf_and_in_a_csv(screen: dict[str, Any]) -> None:
    """Of a view of positions: 64 numbers are 32 pairs of sine and cosine."""
    (wall,), (pdf, caption, csv) = screen["chart"]
    assert 'alt="Encodings of the source have lengths from ' in wall
    assert pdf == "%PDF-" and "Encodings of the source have lengths" in caption
    names, *rows = (line.split(",") for line in csv.splitlines())
    assert len(names) == 3 and len(rows) == 7
    assert all(float(y) == pytest.approx(32**0.5, abs=1e-4) for _, _, y in rows)  # sin² + cos² = 1


def test_a_study_is_on_screen_on_a_wall_in_a_pdf_and_in_a_csv(screen: dict[str, Any]) -> None:
    """Of a page that declares what grows; each of these begins it. A word is a token here."""
    page, (wall,), (pdf, caption, csv) = screen["study"]
    assert page == ["Beginnings of (1, 2, 3, 4) tokens"]
    assert 'alt="Beginnings of (1, 2, 3) tokens' in wall
    assert pdf == "%PDF-" and "Beginnings of (1, 2) tokens" in caption
    points = [line.split(",")[-2:] for line in csv.splitlines()[1:]]
    assert [[float(it) for it in point] for point in points] == [[1, 1], [2, 2]]


def test_an_edit_is_added_by_the_fields_that_it_declares(screen: dict[str, Any]) -> None:
    edit = screen["edit"]
    assert "Turn a head around" in edit["kinds"]
    assert edit["times"] == [0.25, 1.0, 4.0]
    added, undone, redone = edit["addresses"]
    assert re.fullmatch(r"head-against:\w+\.\d\.\d=2\.5", added)
    assert (undone, redone) == ("", added)
    assert edit["asked"] == [added]
    assert any(label.endswith(": Turn a head around") for label in edit["row"])


def test_an_edit_is_on_a_wall_in_a_pdf_and_in_a_csv(screen: dict[str, Any]) -> None:
    """There its numbers are those of the edit that does the same, and not those without."""
    plain, new, same = screen["edit elsewhere"].values()
    assert any(label.endswith(": Turn a head around") for label in new[0])
    assert new[1] == same[1] != plain[1]
    assert new[2] == "%PDF-" and "Turn a head around" in new[3]
    assert new[4] == same[4] != plain[4]


def test_a_view_of_attention_is_drawn_on_explore(screen: dict[str, Any]) -> None:
    figures, texts = screen["explore"]
    assert any(re.fullmatch(r"In L1 H0 key \d receives most\.", alt) for alt in figures)
    assert "What all queries together give to each key." in texts


def test_a_view_of_positions_is_offered_and_drawn(screen: dict[str, Any]) -> None:
    figures, texts = screen["positions"]
    assert "Lengths of encodings" in screen["views"]
    assert figures[0].startswith("Encodings of the source have lengths from ")
    assert "The length of each position's vector." in texts


def test_a_lens_can_be_chosen_and_pictures_are_drawn_through_it(screen: dict[str, Any]) -> None:
    options, chosen, *shown = screen["lens"]
    assert "Above even" in options and chosen == "excess"
    assert shown == ["Above even", "Above even"]


def test_heads_are_told_apart_by_a_new_metric_on_screen(screen: dict[str, Any]) -> None:
    assert "Spread" in screen["metrics"]


def test_a_method_can_be_chosen_on_screen(screen: dict[str, Any]) -> None:
    assert "Ranked" in screen["decoding"][0]


def test_a_family_that_reads_otherwise_decodes_on_screen(screen: dict[str, Any]) -> None:
    assert screen["family"] == "ranked"
