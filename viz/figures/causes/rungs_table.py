"""A ladder as a table: what is lost as more and more of a word is cut off from a written one."""

from collections.abc import Callable, Sequence

from transformer.causes.ladder import Rung
from transformer.edits import Edit
from transformer.recording import Attention, Recording
from transformer.visible import visible
from transformer.words import word_groups, words_of
from viz.exhibits.shading import rooted
from viz.exhibits.table import Cell, Column, Legend, Row, Table
from viz.figures.causes.arrow_costs import LOST
from viz.labels import counted, in_word, kind_title, number, percent, word_text

TITLES = {
    "arrow": "this arrow",
    "word in this head": "its word in this head",
    "head": "the head",
    "layer": "the heads of its layer",
    "all layers": "all layers",
    "every row": "every row",
    "hidden": "hidden",
    "deleted": "deleted",
}
FOOT = (
    "Softmax gives what is cut off to the other keys, so one arrow is seldom the evidence. "
    "Deleting makes another sentence, whose later words move up."
)


def rungs_table(
    rungs: Sequence[Rung], recording: Recording, address: Callable[[Rung], str]
) -> Table:
    """A row for each rung. address: where it is kept; empty: nowhere."""
    own, word, _ = _names(rungs, recording)
    largest = max(abs(rung.cost) for rung in rungs)
    title = f"How much of “{word}” must go before “{own}” goes"
    return Table(
        title,
        [Column(""), Column("nats lost", explain=LOST), Column("what is cut", is_text=True)],
        [_row(rung, rungs[0].edits[0], largest, recording, address) for rung in rungs],
        title=title,
        legend=Legend(
            "signed",
            f"{number(-largest)} (likelier without it)",
            f"{number(largest)} nats, lost (square-root scale).",
            "",
            "A click on a cut keeps it as an experiment.",
        ),
        foot=FOOT,
    )


def describe(rungs: Sequence[Rung], recording: Recording) -> str:
    """Say what the first and the last of the model's own cuts cost."""
    own, word, piece = _names(rungs, recording)
    arrow, whole = rungs[0], next(rung for rung in rungs if rung.name == "hidden")
    weight = _weight(recording, arrow.edits[0])
    return (
        f"The strongest arrow from “{own}” to “{word}” ({percent(weight)} on “{piece}”) costs "
        f"{number(arrow.cost)} nats when it is cut; hiding the word from the whole model costs "
        f"{number(whole.cost)}."
    )


def _names(rungs: Sequence[Rung], recording: Recording) -> tuple[str, str, str]:
    """The written token, the word that is cut off from it, and the piece at the arrow."""
    cut = rungs[0].edits[0]
    attention = recording.attentions[cut.place]
    step = cut.query - (len(attention.queries) - len(recording.target))
    groups = word_groups(recording.source)
    word = next(i for i, group in enumerate(groups) if cut.key in group)
    piece = in_word(recording.source, cut.key)
    return in_word(recording.target, step), visible(words_of(recording.source)[word]), piece


def _row(
    rung: Rung,
    arrow: Edit,
    largest: float,
    recording: Recording,
    address: Callable[[Rung], str],
) -> Row:
    link, title = address(rung), TITLES[rung.name]
    tip = f"{title.capitalize()}: keep it, and see what is written then" if link else ""
    cost = Cell(number(rung.cost), rung.cost, rooted(rung.cost, largest))
    return Row(
        Cell(title, link=link, tip=tip),
        [cost, Cell(_explained(rung.name, arrow, recording))],
    )


def _explained(name: str, arrow: Edit, recording: Recording) -> str:
    attention = recording.attentions[arrow.place]
    groups = word_groups(recording.source)
    pieces = next(group for group in groups if arrow.key in group)
    spelled = word_text([recording.source[i] for i in pieces])
    layer, n = attention.number(arrow.layer), attention.n_heads
    head = f"{kind_title(arrow.place)} L{layer} H{arrow.head}"
    weight = percent(_weight(recording, arrow))
    of_all = counted(n * attention.n_layers, "head", "heads")
    return {
        "arrow": f"{head}: {in_word(recording.source, arrow.key)}, weight {weight}",
        "word in this head": f"{head}: {spelled}",
        "head": f"{head} is off, whatever it looks at",
        "layer": f"L{layer}, {counted(n, 'head', 'heads')}: {spelled}",
        "all layers": f"{_layers(attention)}, {of_all}, in the row that writes",
        "every row": f"{of_all}, in all rows: the decoder does not read it",
        "hidden": "nothing reads it",
        "deleted": "a text without it",
    }[name]


def _layers(attention: Attention) -> str:
    last = attention.n_layers - 1
    first = f"L{attention.number(0)}"
    return first if not last else f"{first} to L{attention.number(last)}"


def _weight(recording: Recording, edit: Edit) -> float:
    layer, head, query, key = edit.numbers
    return float(recording.attentions[edit.place].weights(layer, head)[query, key])
