"""docs/models.md's table, made of recordings: `python -m tests.transformer.watch.models_table`."""

from pathlib import Path

import torch

from tests.transformer.watch.hugging_face import FAMILIES, build, inputs_of
from tests.transformer.watch.more_families import MORE
from transformer import InputError, Recording, record

DOCUMENT = Path(__file__).parents[3] / "docs" / "models.md"
HEAD = "| Model | Seen | Kept | W_O | Missing, or to be known |\n| --- | --- | --- | --- | --- |\n"
NAMES = (*FAMILIES, *MORE)
NOTES = {name: family.note for name, family in MORE.items()}
"""What a reader should know and a recording does not say."""


def recorded(family: str, padded: bool = False) -> Recording | str:
    """The recording, or the sentence that refuses it."""
    model = MORE[family].build() if family in MORE else build(family)
    inputs = MORE[family].inputs() if family in MORE else inputs_of(model, padded)
    torch.manual_seed(0)
    try:
        return record(model, inputs)
    except InputError as error:
        return str(error)


def row(family: str, recording: Recording | str) -> str:
    """What was seen of a family, kept in which form, and what is missing."""
    if isinstance(recording, str):
        if "called neither" in recording:
            return f"| {family} | no attention | | | |"
        why = recording.partition(": ")[2].removesuffix(".")
        return f"| {family} | not understood | | | {_said(why)} |"
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
    return f"| {family} | {seen} | {kept} | {found} | {more} |"


def has_output(recording: Recording) -> bool:
    """Whether the W_O of every layer was found."""
    shown = [each for each in recording.attentions.values() if not each.is_softmax]
    return all(call.has_output for each in shown for call in each.calls)


def _said(unseen: str) -> str:
    """Paths as code: one asterisk opens emphasis."""
    parts = [part.partition(": ") for part in unseen.split("; ") if part]
    return "; ".join(f"`{path}`: {why}" for path, _, why in parts)


def main() -> None:
    """Write the table into the document."""
    before, _, after = DOCUMENT.read_text(encoding="utf-8").partition(HEAD)
    rest = after.partition("\n\n")[2]
    rows = "\n".join(row(family, recorded(family)) for family in NAMES)
    DOCUMENT.write_text(f"{before}{HEAD}{rows}\n\n{rest}", encoding="utf-8")


if __name__ == "__main__":
    main()
