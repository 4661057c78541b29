"""docs/models.md's table, made of recordings: `python -m tests.transformer.watch.models_table`."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from tests.transformer.watch.hugging_face import FAMILIES, build, inputs_of
from tests.transformer.watch.more_families import MORE
from transformer import CheckpointError, InputError, Recording, decode, load_checkpoint, record
from transformer.decoding.steps import Decoding

DOCUMENT = Path(__file__).parents[3] / "docs" / "models.md"
HEAD = (
    "| Model | Its folder, with a text | Seen | Kept | W_O | Missing, or to be known |\n"
    "| --- | --- | --- | --- | --- | --- |\n"
)
TEXT = "5 9 12 33 7"
NAMES = (*FAMILIES, *MORE)
NOTES = {name: family.note for name, family in MORE.items()}
"""What a reader should know and a recording does not say."""


def built(family: str) -> Any:
    return MORE[family].build() if family in MORE else build(family)


def recorded(family: str, padded: bool = False) -> Recording | str:
    """The recording, or the sentence that refuses it."""
    model = built(family)
    inputs = MORE[family].inputs() if family in MORE else inputs_of(model, padded)
    torch.manual_seed(0)
    try:
        return record(model, inputs)
    except InputError as error:
        return str(error)


@dataclass(frozen=True)
class FromFolder:
    """What came of a text where a family's folder was opened."""

    cell: str
    """How the document says it."""
    recording: Recording | None = None
    decoding: Decoding | None = None


def open_and_run(family: str, folder: Path) -> FromFolder:
    """Save its model there, open it, and let it write where it does."""
    built(family).save_pretrained(folder)
    decoding = None
    try:
        opened = load_checkpoint(folder, "cpu")
        if opened.family.decodes:
            decoding = decode(opened, TEXT, "greedy", max_len=4)
        recording = record(opened, TEXT, decoding.target if decoding else None)
    except (CheckpointError, InputError) as error:
        return FromFolder(_refusal(error))
    return FromFolder("written and recorded" if decoding else "recorded", recording, decoding)


def _refusal(error: CheckpointError | InputError) -> str:
    sentence = str(error)
    for begin, cell in _CELLS.items():
        if begin in sentence:
            return cell
    names = sentence.partition("it also reads ")[2].partition(". ")[0].split(", ")
    if names != [""]:
        return "reads " + ", ".join(f"`{name}`" for name in names)
    return "refused" if isinstance(error, CheckpointError) else "cannot run over it"


_CELLS = {
    "reads something else than text": "reads no text",
    "No attention was seen": "opens",
    "it writes nothing here": "writes nothing",
}


def row(family: str, recording: Recording | str) -> tuple[str, ...]:
    """What was seen of a family, kept in which form, and what is missing."""
    if isinstance(recording, str):
        if "called neither" in recording:
            return family, "no attention", "", "", ""
        why = recording.partition(": ")[2].removesuffix(".")
        return family, "not understood", "", "", _said(why)
    calls = [call for each in recording.attentions.values() for call in each.calls]
    kept = (
        "queries, keys, values" if all(call.knows_scores for call in calls) else "weights, values"
    )
    if any(each.is_softmax for each in recording.attentions.values()):
        kept += ", softmax"
    seen = ", ".join(f"`{kind}`" for kind in recording.attentions)
    found = "found" if has_output(recording) else "not found"
    unseen = "; ".join(map(str, recording.unseen))
    more = "; ".join(filter(None, [_said(unseen), NOTES.get(family, "")]))
    return family, seen, kept, found, more


def has_output(recording: Recording) -> bool:
    """Whether the W_O of every layer was found."""
    shown = [each for each in recording.attentions.values() if not each.is_softmax]
    return all(call.has_output for each in shown for call in each.calls)


def _said(unseen: str) -> str:
    """Paths as code: one asterisk opens emphasis."""
    parts = [part.partition(": ") for part in unseen.split("; ") if part]
    return "; ".join(f"`{path}`: {why}" for path, _, why in parts)


def cells() -> dict[str, tuple[str, ...]]:
    """Family -> the other cells of its row in the document."""
    lines = DOCUMENT.read_text(encoding="utf-8").split(HEAD)[1].split("\n\n")[0].splitlines()
    rows = (line.removeprefix("| ").removesuffix(" |").split(" | ") for line in lines)
    return {family: tuple(others) for family, *others in rows}


def _line(family: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        cell = open_and_run(family, Path(folder)).cell
    _, *others = row(family, recorded(family))
    return f"| {' | '.join([family, cell, *others])} |"


def main() -> None:
    """Write the table into the document."""
    before, _, after = DOCUMENT.read_text(encoding="utf-8").partition(HEAD)
    rest = after.partition("\n\n")[2]
    rows = "\n".join(_line(family) for family in NAMES)
    DOCUMENT.write_text(f"{before}{HEAD}{rows}\n\n{rest}", encoding="utf-8")


if __name__ == "__main__":
    main()
