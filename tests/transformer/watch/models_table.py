"""docs/models.md's table, made of recordings: `python -m tests.transformer.watch.models_table`."""

from pathlib import Path

from tests.transformer.watch.hugging_face import FAMILIES, build, inputs_of
from transformer import InputError, Recording, record

DOCUMENT = Path(__file__).parents[3] / "docs" / "models.md"
HEAD = "| Model | Seen | Kept | W_O |\n| --- | --- | --- | --- |\n"


def recorded(family: str, padded: bool = False) -> Recording | None:
    """None where the model has no attention that can be seen."""
    model = build(family)
    try:
        return record(model, inputs_of(model, padded))
    except InputError:
        return None


def refused(family: str) -> str:
    """Whether it has no attention, or some that is not understood."""
    model = build(family)
    try:
        record(model, inputs_of(model))
    except InputError as error:
        return "no attention" if "called neither" in str(error) else "not understood"
    return ""


def row(family: str, recording: Recording | None) -> str:
    """What was seen of a family, kept in which form, and whether its W_O was found."""
    if recording is None:
        return f"| {family} | {refused(family)} | | |"
    calls = [call for each in recording.attentions.values() for call in each.calls]
    kept = (
        "queries, keys, values" if all(call.knows_scores for call in calls) else "weights, values"
    )
    if not all(call.v.size(-1) for call in calls):
        kept = "weights"
    seen = ", ".join(f"`{kind}`" for kind in recording.attentions)
    if "Conditional" in FAMILIES[family][0] and len(recording.attentions) < 3:
        seen += " (not the encoder's)"
    found = "found" if all(call.has_output for call in calls) else "not found"
    return f"| {family} | {seen} | {kept} | {found} |"


def main() -> None:
    """Write the table into the document."""
    before, _, after = DOCUMENT.read_text(encoding="utf-8").partition(HEAD)
    rest = after.partition("\n\n")[2]
    rows = "\n".join(row(family, recorded(family)) for family in FAMILIES)
    DOCUMENT.write_text(f"{before}{HEAD}{rows}\n\n{rest}", encoding="utf-8")


if __name__ == "__main__":
    main()
