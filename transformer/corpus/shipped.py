"""A survey that is kept beside a checkpoint: what its heads do, over which sentences, and what each
head is worth. One JSON file of rounded numbers, and a card in words.

Rows name their sentence, so that pieces stand in the file once a sentence.
"""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from transformer.checkpoint import CARD, CheckpointError
from transformer.corpus.measured import split
from transformer.corpus.summary import check, check_estimate, count, text
from transformer.corpus.surveyed import Decile, Estimate, HeadSummary, Row, Survey, Syntax
from transformer.field_docs import fields_in_help
from transformer.files.foreign_file import read_file, read_json
from transformer.files.foreign_text import write_whole
from transformer.fingerprint import is_marked
from transformer.in_a_line import in_a_line

FOLDER, FILE = "survey", "survey.json"
LAYOUT = 4
"""The number of the file's layout; another one is made anew."""
LARGEST = 2**23
"""Bytes of a file that are read."""
N_DRAWN = 2
"""Rows of a decile that are kept, where the survey drew more."""
SHORTER = str.maketrans("▁_", "_▁")
"""Sentencepiece's mark, three bytes, changes places with a rarer character of one byte, in pieces:
a survey is a tenth smaller for it."""
Place = tuple[str, int, int]
"""A head: its kind, layer and number."""


@fields_in_help
@dataclass(frozen=True, eq=False)
@in_a_line
class ShippedSurvey:
    """The heads of a checkpoint over sentences that are shipped with it."""

    survey: Survey
    """The numbers of each head."""
    sentences: Mapping[int, str]
    """Number of a line -> its text, of the lines that rows name."""
    targets: Mapping[int, str]
    """The same of the texts that were judged: those that the model wrote, or, of one that continues
    a text, the given text behind its first piece; none where it writes nothing."""
    pieces: Mapping[int, tuple[str, ...]]
    """Number of a line -> the pieces of each of its sides, as `transformer.corpus.measured` writes
    them."""
    sides: Mapping[str, tuple[int, int, int]]
    """Kind -> which of these sides stands along its rows, which along its columns, and which names
    its rows."""
    worth: Mapping[Place, Estimate]
    """The mean loss of the text that is judged when this head alone is off: below 0, it harms."""
    unit: str
    """The unit of worth: "nats", of the log-probability of a token or of a class, "degrees" by
    which a text's vector turns, or a number's own "units"."""
    about: str
    """The card: whose sentences these are, how many, and when they were read, in Markdown."""

    def pieces_of(self, kind: str, line: int) -> tuple[list[str], list[str], list[str]]:
        """The pieces along rows and columns of a sentence that a row names, and those that name its
        rows. Raises KeyError.
        """
        queries, keys, names = (split(self.pieces[line][side]) for side in self.sides[kind])
        return queries, keys, names


def shipped_survey(checkpoint: Path, place: Path | None = None) -> ShippedSurvey | None:
    """Read the survey of a checkpoint's folder; None where there is none.

    place: the folder of the survey, where it is another one than that beside the weights. Raises
    CheckpointError where it is damaged, or of other weights.
    """
    folder = place or checkpoint / FOLDER
    if not (folder / FILE).is_file():
        return None
    value = read_json(folder / FILE, LARGEST)
    again = "make it anew with the command ship-survey"
    try:
        if value["layout"] != LAYOUT:
            raise CheckpointError(f"{folder / FILE} is of another version of Headscope: {again}.")
        if not is_marked(checkpoint, value["fingerprint"] or "-"):
            raise CheckpointError(
                f"The survey in {folder} is of other weights than those of {checkpoint.name}: "
                f"{again}."
            )
        card = folder / CARD
        return _shipped(value, read_file(card, LARGEST).decode() if card.is_file() else "")
    except (ValueError, TypeError, LookupError, AttributeError, OverflowError) as error:
        raise CheckpointError(f"{folder / FILE} holds no survey: {again}.") from error


def write_shipped(folder: Path, shipped: ShippedSurvey, fingerprint: str) -> None:
    """Write the survey and its card into this folder. Raises Unwritten."""
    write_whole(folder / CARD, shipped.about.encode())
    write_whole(folder / FILE, _json(shipped, fingerprint).encode())


def _json(shipped: ShippedSurvey, fingerprint: str) -> str:
    """A line for each head and for each sentence, so that versions can be compared."""
    survey = shipped.survey
    shared = {kind: _shared(survey, kind) for kind in shipped.sides}
    best = _best(survey)
    start = {
        "layout": LAYOUT,
        "fingerprint": fingerprint,
        "unit": shipped.unit,
        "sides": shipped.sides,
        "n_sentences": survey.n_sentences,
        "one_by_one": survey.one_by_one,
        "left_out": survey.left_out,
        "shared": shared,
    }
    heads = [
        _spelled(_values(head, shipped.worth, shared[head.kind], best)) for head in survey.heads
    ]
    sentences = [
        f'"{line}":{_spelled([text, shipped.targets.get(line), *_in_steps(shipped.pieces[line])])}'
        for line, text in shipped.sentences.items()
    ]
    return "".join(
        (
            _spelled(start)[:-1],
            ',\n"heads": [\n',
            ",\n".join(heads),
            '\n],\n"sentences": {\n',
            ",\n".join(sentences),
            "\n}}\n",
        )
    )


def _in_steps(sides: Sequence[str]) -> list[str | list[str]]:
    """Each side; of one that is a step ahead of the one before, as what is written is of what is
    read, its last piece alone, in a list: a survey is a sixth smaller for it.
    """
    sides = [side.translate(SHORTER) for side in sides]
    steps = [
        [now.split(" ")[-1]] if now.split(" ")[:-1] == before.split(" ")[1:] else now
        for before, now in pairwise(sides)
    ]
    return [*sides[:1], *steps]


def _whole(sides: Iterable[str | list[str]]) -> Iterator[str]:
    """The sides that `_in_steps` was given."""
    before = ""
    for side in sides:
        if isinstance(side, list):
            (last,) = side
            before = " ".join([*before.split(" ")[1:], last])
        else:
            before = side
        yield before.translate(SHORTER)


def _spelled(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _shared(survey: Survey, kind: str) -> dict[str, list[float | int | None]]:
    """The numbers that all heads of a kind have alike, as scores by chance."""
    first, *others = (head.numbers for head in survey.heads if head.kind == kind)
    return {
        name: _estimate(each)
        for name, each in first.items()
        if others and all(other.get(name) == each for other in others)
    }


def _best(survey: Survey) -> dict[tuple[str, str], HeadSummary]:
    """Kind and relation -> the head that finds it most often: it says that it was asked for."""
    result: dict[tuple[str, str], HeadSummary] = {}
    for head in survey.heads:
        for name, of in head.syntax.items():
            before = result.setdefault((head.kind, name), head)
            if of.accuracy > before.syntax[name].accuracy:
                result[head.kind, name] = head
    return result


def _values(
    head: HeadSummary,
    worth: Mapping[Place, Estimate],
    shared: Container[str],
    best: Mapping[tuple[str, str], HeadSummary],
) -> dict[str, Any]:
    of = worth.get((head.kind, head.layer, head.head))
    return {
        "head": [head.kind, head.layer, head.head],
        "numbers": {
            name: _estimate(each) for name, each in head.numbers.items() if name not in shared
        },
        "footprint": [*map(_rounded, head.footprint)],
        "deciles": [
            [
                _rounded(each.low),
                _rounded(each.high),
                _rounded(each.share),
                _rows(each.rows[:N_DRAWN]),
            ]
            for each in head.deciles
        ],
        "strongest": _rows(head.strongest),
        "syntax": {
            name: [
                _rounded(each.accuracy),
                _rounded(each.low),
                _rounded(each.high),
                each.direction,
                each.n_arcs,
                each.offset,
                _rounded(each.by_offset),
                each.n_sentences,
            ]
            for name, each in head.syntax.items()
            # The others say nothing that places do not, but that they were asked for.
            if each.accuracy > each.by_offset or best[head.kind, name] is head
        },
        "worth": None if of is None else _estimate(of),
    }


def _estimate(of: Estimate) -> list[float | int | None]:
    return [*map(_rounded, (of.mean, of.low, of.high)), of.n_sentences]


def _rows(rows: Iterable[Row]) -> list[list[float | int | None]]:
    return [[round(row.weight, 3), row.sentence, row.query, row.key] for row in rows]


def _rounded(number: float | None) -> float | None:
    return None if number is None else round(number, 4)


def _shipped(value: Mapping[str, Any], about: str) -> ShippedSurvey:
    lines = {int(line): each for line, each in value["sentences"].items()}
    sides = {str(kind): (q, k, names) for kind, (q, k, names) in value["sides"].items()}
    bare = ShippedSurvey(
        survey=Survey(0, ()),
        sentences={line: source for line, (source, *_) in lines.items()},
        targets={line: target for line, (_, target, *_) in lines.items() if target is not None},
        pieces={line: tuple(_whole(sides)) for line, (_, _, *sides) in lines.items()},
        sides=sides,
        worth={_place(each): Estimate(*each["worth"]) for each in value["heads"] if each["worth"]},
        unit=value["unit"],
        about=about,
    )
    heads = tuple(_head(each, bare, value["shared"]) for each in value["heads"])
    survey = Survey(value["n_sentences"], heads, value["one_by_one"], tuple(value["left_out"]))
    check(survey)
    for estimate in bare.worth.values():
        check_estimate(estimate)
    count(*bare.sentences, *(side for of in sides.values() for side in of))
    text(bare.unit, *bare.sentences.values(), *bare.targets.values())
    text(*(side for of in bare.pieces.values() for side in of))
    return replace(bare, survey=survey)


def _place(value: Mapping[str, Any]) -> Place:
    kind, layer, head = value["head"]
    return kind, layer, head


def _head(value: Mapping[str, Any], of: ShippedSurvey, shared: Mapping[str, Any]) -> HeadSummary:
    kind, layer, head = _place(value)
    numbers = {**value["numbers"], **shared[kind]}

    def rows(values: Sequence[Sequence[Any]]) -> tuple[Row, ...]:
        result = []
        for weight, line, query, key in values:
            queries, keys, names = of.pieces_of(kind, line)
            result.append(Row(weight, line, query, key, queries[query], keys[key], names[query]))
        return tuple(result)

    return HeadSummary(
        kind=kind,
        layer=layer,
        head=head,
        numbers={name: Estimate(*each) for name, each in numbers.items()},
        footprint=tuple(value["footprint"]),
        deciles=tuple(
            Decile(low, high, share, rows(drawn)) for low, high, share, drawn in value["deciles"]
        ),
        strongest=rows(value["strongest"]),
        syntax={name: Syntax(*each) for name, each in value["syntax"].items()},
    )
