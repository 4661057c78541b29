"""The card of a written word: its verdict, and what each word, arrow and rung is worth to it."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from math import exp

import torch
from torch import Tensor

from transformer.analysis.lost import lost_sentence
from transformer.analysis.tables import Sides
from transformer.causes import Evidence
from transformer.causes.arrows import Arrows, Forecast
from transformer.causes.ladder import Rung
from transformer.edits import Edit
from transformer.recording import Attention, Recording
from transformer.refusal import visible
from viz.exhibits.chart import Axis, Chart, Grid, differences, rooted
from viz.exhibits.exhibit import Line, Span, Words
from viz.exhibits.table import WIDE, Cell, Column, Legend, Row, Table, Tables
from viz.figures.tables import heat_map
from viz.labels import counted, in_word, kind_name, kind_title, number, percent, word_text

# Every arrow of the row that writes a token, each cut by itself: its cost to the token.

HOLDS = 1e-4
"""Nats up to which the identity of a forecast holds, in any precision of weights."""
ARROW_COSTS_FOOT = (
    "A cut arrow's weight goes to the other keys of its row: where they hold the same, it costs "
    "nothing, and the word may be needed all the same."
)
LOST = "The log-probability that the written token loses by the cut; below 0 it gains."
WEIGHT = "The weight of the arrow while nothing is cut."
N_STRONGEST = 8


def chart(arrows: Arrows, recording: Recording, kind: str) -> Chart:
    """A line for each head of a kind of attention, a column for each key that the row sees."""
    attention, token = recording.attentions[kind], in_word(recording.target, arrows.step)
    layers = [layer for place, layer in arrows.costs if place == kind]
    costs = torch.cat([arrows.costs[kind, layer] for layer in layers])  # [L * H, K]
    n_keys = costs.size(1)
    weights = torch.cat([attention.weights(layer)[:, arrows.query, :n_keys] for layer in layers])
    bound = float(costs.nan_to_num().abs().max())
    keys, sides = attention.keys[:n_keys], Sides(attention)
    names = [_head(attention, layer, head) for layer in layers for head in range(attention.n_heads)]
    drawn = heat_map(
        f"arrow-costs {kind}",
        (f"“{token}”", f": each arrow of {kind_name(kind)} cut{_if_forecast(arrows)}"),
        costs,
        Axis("head", labels=names, origins=[sides.query(arrows.query)] * len(names)),
        Axis("key", labels=keys, origins=sides.keys[:n_keys]),
        differences("nats lost", bound or 1.0),
        "{y} → {x}: {z:.3f} nats, weight {0:.3f}",
    )
    marks = [
        replace(mark, more=weights.numpy()[..., None]) if isinstance(mark, Grid) else mark
        for mark in drawn.marks
    ]
    return replace(drawn, marks=marks).in_words


def _if_forecast(arrows: Arrows) -> str:
    return ", forecast" if isinstance(arrows, Forecast) else ""


def badge(arrows: Arrows) -> str:
    """Say of a forecast how it was made, and whether its identity holds; else nothing."""
    if not isinstance(arrows, Forecast):
        return ""
    verdict = "as it must" if arrows.error < HOLDS else "which it should not be: trust none of it"
    return (
        "Forecast by one backward pass, good for small weights and poor near 1. Its sum over each "
        f"row, times 1 − weight, is 0 up to {number(arrows.error, 0, 'e')}, {verdict}. "
    )


def describe_arrow_costs(arrows: Arrows, recording: Recording) -> str:
    """Say which arrow is worth most, and beside it the largest weight."""
    token = f"“{in_word(recording.target, arrows.step)}”"
    strongest = arrows.strongest(1)
    if not strongest:
        return f"No arrow of the row that writes {token} can be cut: it sees only one key."
    cost, edit = strongest[0]
    n = sum(int(each.isfinite().sum()) for each in arrows.costs.values())
    weight = _weight_arrow_costs(recording, edit)
    return (
        f"{badge(arrows)}Each of {n} arrows of the row that writes {token} is cut by itself. The "
        f"most is lost at {_name(recording, edit)}: {number(cost, 3)} nats, of a weight of "
        f"{percent(weight)}."
    )


def strongest_table(
    arrows: Arrows,
    recording: Recording,
    address: Callable[[Edit], str],
    exact: Mapping[str, float] | None = None,
) -> Table:
    """The arrows that cost most, with their weights.

    address: where an arrow is cut for good. exact: beside a forecast, what runs of the whole model
    have lost, by the edit's spelling.
    """
    strongest = arrows.strongest(N_STRONGEST)
    largest = max((abs(cost) for cost, _ in strongest), default=0.0)
    return Table(
        f"The arrows that “{in_word(recording.target, arrows.step)}” needs most",
        [Column("cut"), *_columns_arrow_costs(arrows, exact), Column("weight", explain=WEIGHT)],
        [
            _row_arrow_costs([cost, *_of(exact, edit)], edit, recording, largest, address(edit))
            for cost, edit in strongest
        ],
        foot=f"{badge(arrows)}{ARROW_COSTS_FOOT}",
    )


def _columns_arrow_costs(arrows: Arrows, exact: Mapping[str, float] | None) -> list[Column]:
    if exact is None:
        return [Column(f"nats lost{_if_forecast(arrows)}", explain=LOST)]
    return [
        Column("nats lost, forecast", explain="By the gradient, without a further run."),
        Column("nats lost, cut", explain="By a run of the whole model with this arrow cut."),
    ]


def _of(exact: Mapping[str, float] | None, edit: Edit) -> list[float | None]:
    return [] if exact is None else [exact.get(str(edit))]


def _row_arrow_costs(
    costs: Sequence[float | None], edit: Edit, recording: Recording, largest: float, address: str
) -> Row:
    weight = _weight_arrow_costs(recording, edit)
    sides = Sides(recording.attentions[edit.place])
    cells = [
        *(it if it is None else Cell(number(it, 3), it, rooted(it, largest)) for it in costs),
        Cell(percent(weight), weight),
    ]
    name = _name(recording, edit)
    head = Cell(name, link=address, tip=f"Cut {name}, and see what is written then")
    return Row(head, cells, origin=sides.key(edit.key))


def _name(recording: Recording, edit: Edit) -> str:
    attention = recording.attentions[edit.place]
    head = _head(attention, edit.layer, edit.head)
    return f"{kind_title(edit.place)} {head} → {in_word(attention.keys, edit.key)}"


def _head(attention: Attention, layer: int, head: int) -> str:
    return f"L{attention.number(layer)} H{head}"


def _weight_arrow_costs(recording: Recording, edit: Edit) -> float:
    layer, head, query, key = edit.numbers
    return float(recording.attentions[edit.place].weights(layer, head)[query, key])


# A ladder as a table: what is lost as more and more of a word is cut off from a written one.

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
RUNGS_TABLE_FOOT = (
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
        [_row_rungs_table(rung, rungs[0].edits[0], largest, recording, address) for rung in rungs],
        title=title,
        legend=Legend(
            "signed",
            f"{number(-largest)} (likelier without it)",
            f"{number(largest)} nats, lost (square-root scale).",
            "",
            "A click on a cut keeps it as an experiment.",
        ),
        foot=RUNGS_TABLE_FOOT,
    )


def describe_rungs_table(rungs: Sequence[Rung], recording: Recording) -> str:
    """Say what the first and the last of the model's own cuts cost."""
    own, word, piece = _names(rungs, recording)
    arrow, whole = rungs[0], next(rung for rung in rungs if rung.name == "hidden")
    weight = _weight_rungs_table(recording, arrow.edits[0])
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
    word, piece = recording.source_words.at(cut.key), in_word(recording.source, cut.key)
    return in_word(recording.target, step), visible(word.text), piece


def _row_rungs_table(
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
    spelled = word_text(recording.source_words.at(arrow.key).tokens)
    layer, n = attention.number(arrow.layer), attention.n_heads
    head = f"{kind_title(arrow.place)} L{layer} H{arrow.head}"
    weight = percent(_weight_rungs_table(recording, arrow))
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


def _weight_rungs_table(recording: Recording, edit: Edit) -> float:
    layer, head, query, key = edit.numbers
    return float(recording.attentions[edit.place].weights(layer, head)[query, key])


# The verdict on a written word in a sentence, and what the whole text gives to it.

CARD: Mapping[str, str] = {
    "verdict": "{kind}: {text}",
    "log_prob": "Its log-probability:",
    "without": "nats; without the text:",
    "gives": "nats, so that the text gives",
    "runner-up": "nats. The runner-up:",
    "runner-ups": "nats. The runner-ups of its pieces:",
    "foils": "“{foils}”.",
    "not right": "That it looks at what it needs does not make it right.",
    "name": "What “{own}” looks at and needs",
    "source": "The text",
    "name of prefix": "What “{own}” needs of what is written before it",
    "prefix": "Written before it",
    "looks": "looks at",
    "cut": "cut",
    "hidden": "hidden",
    "replaced": "replaced",
    "weight": "{word} {share}",
    "cost": "{word} {nats} nats",
    "low": "{low} (likelier without it)",
    "high": "{high} nats, missed (square-root scale).",
    "legend": "The cost of each word to “{own}”.",
    "foot": (
        "Looks at: the weights of the last layer, shaded up to 100 %. Cut: the decoder does not "
        "read the word. Hidden: nothing does. Replaced: the unknown token, or the mean embedding, "
        "stands in its place."
    ),
}
"""All that a card says, with the places of words and numbers."""
PARTED = ("moved by the encoder", "held by the prefix")
"""Verdicts on words that look at another word than they need."""
LOG_PROB = "log-probability, in nats"


def verdict_words(evidence: Evidence, word: int) -> Words:
    """word: its number among those that are written."""
    verdict = evidence.verdicts[word]
    says = CARD["verdict"].format(kind=verdict.kind.capitalize(), text=verdict.text)
    sentence = Span(visible(says), value=verdict.nats, measure="cost, in nats")
    log_prob, foils = float(evidence.log_probs[word]), evidence.runner_ups[word]
    foot = [
        Span(CARD["log_prob"]),
        Span(number(log_prob), value=log_prob, measure=LOG_PROB),
        Span(CARD["without"]),
        *_without(evidence, word),
        Span(CARD["runner-ups" if " + " in foils else "runner-up"]),
        Span(CARD["foils"].format(foils=visible(foils))),
    ]
    remark = [Span(CARD["not right"])] if verdict.kind == "agrees" else []
    return Words([Line([sentence])], foot + remark)


PLAIN: Mapping[str, str] = {
    "nothing": "“{own}” needs no single word: without any one of them it is about as likely.",
    "needs": "“{own}” needs “{needed}”{before}: without that it is {times} times less likely.",
    "before": ", written before it",
    "too": " It looks there, too.",
    "hidden": " It looks at a special token, which the picture hides.",
    "looks": " It looks at “{seen}”.",
    "hides": " The picture hides “{seen}”.",
    "many": "over a million",
}
"""The verdict in the words of somebody who has never seen one, and what the picture hides of it."""
MANY = 10**6


def plain_verdict(evidence: Evidence, word: int, unseen: Container[int] = ()) -> str:
    """Say it in the words of PLAIN.

    unseen: the numbers of words of the text that the picture leaves out.
    """
    verdict, own = evidence.verdicts[word], evidence.target_words[word]
    if verdict.needs is None:
        return PLAIN["nothing"].format(own=own)
    is_held = verdict.kind == "held by the prefix"
    needed = (evidence.target_words if is_held else evidence.source_words)[verdict.needs]
    before = PLAIN["before"] if is_held else ""
    times = _times(verdict.nats)
    says = PLAIN["needs"].format(own=own, needed=needed, before=before, times=times)
    if verdict.looks_at in (verdict.needs, *verdict.also) and not is_held:
        return says + PLAIN["too"]
    if verdict.looks_at is None:
        return says
    if verdict.looks_at in unseen:
        return says + PLAIN["hidden"]
    return says + PLAIN["looks"].format(seen=evidence.source_words[verdict.looks_at])


def _times(nats: float) -> str:
    times = exp(round(nats, 2))  # as viz/components/kit/worth.js says it beside the picture
    if times >= MANY:
        return PLAIN["many"]
    return number(times, 1) if times < 10 else f"{float(f'{times:.3g}'):,.0f}"


def _without(evidence: Evidence, word: int) -> list[Span]:
    """Say what is left where no word of the text is seen, and so what all of them give."""
    assert evidence.without_source is not None and evidence.source_gives is not None
    left, gives = float(evidence.without_source[word]), float(evidence.source_gives[word])
    return [
        Span(number(left), value=left, measure=f"{LOG_PROB}, without the text"),
        Span(CARD["gives"]),
        Span(number(gives), value=gives, measure="given by the text, in nats"),
    ]


# The words before a written word in one order: which it looks at, and which it needs.

LEAST = 0.05
"""A weight, or nats, below which a cell has a shade, and no number."""
Origins = Sequence[Mapping[str, str]]


def worth_tables(
    evidence: Evidence,
    word: int,
    of_source: Origins = (),
    of_target: Origins = (),
    unseen: Container[int] = (),
) -> Tables:
    """A table of the text's words, and one of those written before it, where there are any; above
    them the verdict.

    word: its number among those that are written. of_source, of_target: the tokens of each word.
    unseen: the numbers of words of the text that the picture beside it leaves out.
    """
    verdict, own = evidence.verdicts[word], visible(evidence.target_words[word])
    words = list(map(visible, evidence.source_words))
    heading = verdict_words(evidence, word)
    (title,), remark = (line.plain for line in heading.lines), Line(heading.foot).plain
    plain = visible(plain_verdict(evidence, word, unseen))
    if verdict.looks_at is not None and verdict.looks_at in unseen:
        title += PLAIN["hides"].format(seen=words[verdict.looks_at])
    before = list(map(visible, evidence.target_words[:word]))
    rows = [row[word] for row in (evidence.hidden, evidence.cut) if row is not None]
    held = None if evidence.prefix is None or not word else evidence.prefix[word, :word]
    costs = [*rows, *([] if held is None else [held])]
    largest = max(float(row.abs().max()) for row in costs)
    source = Table(
        CARD["name"].format(own=own),
        _columns_worth_tables(words, of_source),
        list(_source_rows(evidence, word, words, largest)),
        title=CARD["source"],
        foot=" ".join(filter(None, ("" if word else CARD["foot"], lost_sentence(evidence.lost)))),
    )
    legend = Legend(
        "signed",
        CARD["low"].format(low=number(-largest)),
        CARD["high"].format(high=number(largest)),
        CARD["legend"].format(own=own),
    )
    if held is None:
        return Tables([[source]], legend, title, remark, plain)
    needs = [verdict.needs] if verdict.kind == "held by the prefix" else []
    prefix = Table(
        CARD["name of prefix"].format(own=own),
        _columns_worth_tables(before, of_target),
        [Row(Cell(CARD["replaced"]), _costs(held, before, largest, needs))],
        title=CARD["prefix"],
        foot=CARD["foot"],
    )
    return Tables([[source], [prefix]], legend, title, remark, plain)


def _columns_worth_tables(words: Sequence[str], origins: Origins) -> list[Column]:
    pairs = zip(words, origins or [{}] * len(words), strict=False)
    return [Column(), *(Column(word, is_word=True, origin=it) for word, it in pairs)]


def _source_rows(
    evidence: Evidence, word: int, words: Sequence[str], largest: float
) -> Iterable[Row]:
    verdict = evidence.verdicts[word]
    needs = [] if verdict.kind == "held by the prefix" else [verdict.needs, *verdict.also]
    if evidence.weights is not None:
        yield Row(Cell(CARD["looks"]), _weights(evidence.weights[word], words, verdict.looks_at))
    if evidence.cut is not None:
        yield Row(Cell(CARD["cut"]), _costs(evidence.cut[word], words, largest))
    yield Row(Cell(CARD["hidden"]), _costs(evidence.hidden[word], words, largest, needs))


def _weights(row: Tensor, words: Sequence[str], most: int | None) -> list[Cell]:
    is_wide = len(words) > WIDE
    return [
        Cell(
            percent(weight, 0) if weight >= LEAST and not is_wide else "",
            weight,
            rooted(weight),
            tip=CARD["weight"].format(word=word, share=percent(weight)),
            is_marked=i == most,
        )
        for i, (weight, word) in enumerate(zip(row.tolist(), words, strict=True))
    ]


def _costs(
    row: Tensor, words: Sequence[str], largest: float, needs: Sequence[int | None] = ()
) -> list[Cell]:
    is_wide = len(words) > WIDE
    return [
        Cell(
            number(cost) if abs(cost) >= LEAST and not is_wide else "",
            cost,
            rooted(cost, largest),
            tip=CARD["cost"].format(word=word, nats=number(cost, 3)),
            is_marked=i in needs,
        )
        for i, (cost, word) in enumerate(zip(row.tolist(), words, strict=True))
    ]
