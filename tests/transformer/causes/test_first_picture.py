"""A checkpoint opens with the picture that is true most often, and by earlier links as well."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from tests.representatives import cases
from transformer import InputError, evidence, load_checkpoint
from transformer.__main__ import main
from transformer.analysis.ablation import sweep
from transformer.analysis.reading import Reading, read
from transformer.causes.first_picture import first_picture, open_at
from transformer.checkpoint import CONFIG
from transformer.corpus.shipped import shipped_survey
from transformer.decoding import decode
from transformer.fingerprint import fingerprint, is_marked
from transformer.recording.ours import record

FOLDER = Path(__file__).parents[3] / "checkpoints"
SHIPPED = [folder.name for folder in sorted(FOLDER.iterdir()) if (folder / CONFIG).is_file()]
FEW = {"cross-attention": "en-de", "a decoder alone": "everyday", "a class": "sentiment"}


@pytest.mark.parametrize("name", cases(SHIPPED, FEW))
def test_shipped_ones_open_as_the_command_says(name: str) -> None:
    checkpoint = load_checkpoint(FOLDER / name, "cpu")
    picture, about = first_picture(checkpoint), checkpoint.about
    assert (picture.opens_at, picture.special) == (about.opens_at, about.special)


def test_its_words_look_most_often_at_what_they_need() -> None:
    """Counted once more, off the picture: 12 of 13 words of the first sentence, no head has more;
    nicht looks at didn't.
    """
    checkpoint = load_checkpoint(FOLDER / "en-de", "cpu")
    text = checkpoint.about.examples[0]
    target = decode(checkpoint, text, method="beam").target
    found = evidence(checkpoint, text, target)
    map = read(record(checkpoint, text, target), "cross", Reading(words=True, special="hidden"))
    assert found.cut is not None and [row.piece for row in map.rows][-1] != "</s>"
    needed = found.cut.argmax(-1)[: len(map.rows)]
    right = {
        (layer, head): int((map.values(layer, head).argmax(-1) == needed).sum())
        for layer in range(map.n_layers)
        for head in range(map.n_heads)
    }
    assert checkpoint.about.special == "hidden"
    assert right[checkpoint.about.opens_at[1:]] == max(right.values()) == 12 == len(map.rows) - 1
    row = [token.piece for token in map.rows].index("nicht")
    _, layer, head = checkpoint.about.opens_at
    assert map.columns[int(map.values(layer, head)[row].argmax())].piece == "didn't"


def test_a_classifier_opens_at_the_head_that_its_class_depends_on_most() -> None:
    checkpoint = load_checkpoint(FOLDER / "sentiment", "cpu")
    changes = sweep(checkpoint, checkpoint.about.examples[0])
    most = max(zip(changes.totals.abs().tolist(), changes.edits, strict=True), key=lambda it: it[0])
    assert first_picture(checkpoint).opens_at == most[1].at_head


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    """A copy that opens at another head, as its survey was made."""
    folder = Path(shutil.copytree(FOLDER / "copy", tmp_path / "copy"))
    values = json.loads((folder / CONFIG).read_text())
    values["opens_at"] = ["cross", 0, 1]
    for name in ("special", "earlier"):
        values.pop(name, None)
    (folder / CONFIG).write_text(json.dumps(values, indent=2) + "\n")
    survey = folder / "survey" / "survey.json"
    made = json.loads(survey.read_text()) | {"fingerprint": fingerprint(folder)}
    survey.write_text(json.dumps(made))
    return folder


def test_what_names_the_earlier_fingerprint_goes_on(
    earlier: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before, files = fingerprint(earlier), load_checkpoint(earlier, "cpu")
    assert main(["first-picture", str(earlier), "--write", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["head"] == 0
    after = load_checkpoint(earlier, "cpu")
    assert after.about.opens_at != files.about.opens_at and after.about.earlier == (before,)
    assert fingerprint(earlier) != before and is_marked(earlier, before[:16])
    assert not is_marked(earlier, "0" * 16) and shipped_survey(earlier) is not None
    assert replace(after.about, opens_at=files.about.opens_at, earlier=()) == files.about
    assert after.config == files.config
    now = fingerprint(earlier)
    assert open_at(after) is not None and fingerprint(earlier) == now  # nothing new to write


def test_a_checkpoint_without_examples_is_told_to_have_some(earlier: Path) -> None:
    checkpoint = load_checkpoint(earlier, "cpu")
    bare = replace(checkpoint, about=replace(checkpoint.about, examples=()))
    with pytest.raises(InputError, match="no examples"):
        first_picture(bare)
    assert open_at(bare) is None
