"""What tasks take for true is what q, k, v, mask and scale give, computed a second way."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.representatives import cases
from tests.viz.lessons.test_every_task import HEADS, SENTENCES, seen
from transformer.words import word_groups
from viz.lessons.exercise import tasks
from viz.lessons.subject import Subject
from viz.lessons.task import percent_of
from viz.lessons.tasks.maps import MOST, moved

ROWS = [
    (checkpoint, text, head, row)
    for checkpoint, texts in SENTENCES.items()
    for text in texts[:2]
    for head in HEADS
    for row in ("divided", "sharpest")
]
FEW = {
    "every key is open": ("copy", SENTENCES["copy"][0], HEADS[0], "divided"),
    "later keys are closed": ("copy", SENTENCES["copy"][1], HEADS[1], "sharpest"),
    "words of several pieces": ("en-de-small", SENTENCES["en-de-small"][1], HEADS[1], "divided"),
    "pieces that are read": ("en-de-small", SENTENCES["en-de-small"][0], HEADS[2], "sharpest"),
}
EACH_ROW = pytest.mark.parametrize(("checkpoint", "text", "head", "row"), cases(ROWS, FEW))


def by_hand(of: Subject) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q · k, score and weight of every open key, in float64 from what was recorded."""
    place = of.place
    call = of.attention.calls[place.layer]
    q, k = (each[place.head].double().numpy() for each in (call.q, call.k))
    products = np.array([sum(a * b for a, b in zip(q[place.query], row, strict=True)) for row in k])
    mask = np.ones(len(k), bool)
    if call.mask is not None:
        whole = call.mask.expand(call.n_heads, q.shape[0], k.shape[0])
        mask &= whole[place.head, place.query].numpy()
    if call.is_causal:
        mask &= np.arange(len(k)) <= place.query
    assert of.open_keys == [int(i) for i in mask.nonzero()[0]]
    scores = products[mask] / math.sqrt(q.shape[1])
    powers = np.exp(scores - scores.max())
    return products[mask], scores, powers / powers.sum()


def of_words(of: Subject, weights: np.ndarray) -> list[float]:
    """The same row as pictures show it: what the pieces of a word get, together."""
    pieces = dict(zip(of.open_keys, weights.tolist(), strict=True))
    groups = [pieces.keys() & set(group) for group in word_groups(of.attention.keys)]
    return [sum(pieces[key] for key in group) for group in groups if group]


def test_a_word_is_one_answer_however_many_pieces_it_has() -> None:
    """Of ‘didn't’ there were four."""
    text = "The animal didn't cross the street."
    of = seen("en-de-small", text, HEADS[0], "divided")
    assert len(of.words) < len(of.tokens) and "didn't" in of.words
    assert not [word for word in of.words if " in " in word]
    assert of.is_of_words and float(of.weights.sum()) == pytest.approx(1, abs=1e-5)
    places = [i for i in range(len(of.attention.produced or ())) if not _is_whole(of, i)]
    part = replace(of, place=replace(of.place, query=places[0]))
    assert not part.is_of_words and part.words == part.tokens
    assert replace(of, in_pieces=True).words == of.tokens


def _is_whole(of: Subject, query: int) -> bool:
    return (query,) in word_groups(of.attention.produced or ())


@pytest.mark.parametrize("name", ["dot", "mix"])
@pytest.mark.parametrize("text", SENTENCES["en-de-small"][:2])
def test_a_hint_multiplies_the_factors_that_are_shown(name: str, text: str) -> None:
    task, of = tasks()[name], seen("en-de-small", text, HEADS[0], "divided")
    assert task.material is not None
    lines = [line.split(" × ") for _, line in task.material(of) if " × " in line]
    products = [math.prod(float(it.strip("()").replace("−", "-")) for it in two) for two in lines]
    said = [float(it.replace("−", "-")) for it in re.findall(r"[−]?\d+\.\d+", task.hint(of, 0.0))]
    assert any(abs(each - said[0]) < 0.00501 for each in products)


@pytest.mark.parametrize("row", ["divided", "sharpest"])
def test_rows_that_are_asked_about_are_words_that_look_most_at_words(row: str) -> None:
    for text in SENTENCES["en-de-small"][:2]:  # the third has no two such rows
        of = seen("en-de-small", text, HEADS[0], row)
        assert of.is_of_words and of.words[of.strongest] == of.tokens[of.strongest_token]


@EACH_ROW
def test_each_step_of_attention(checkpoint: str, text: str, head: str, row: str) -> None:
    of, known = seen(checkpoint, text, head, row), tasks()
    products, scores, weights = by_hand(of)
    most = int(weights.argmax())
    words = of_words(of, weights)
    assert known["strongest"].truth(of) == words.index(max(words))
    assert known["spread"].truth(of) == pytest.approx(words, abs=1e-5)
    assert known["dot"].truth(of) == pytest.approx(products[most], rel=1e-4, abs=1e-4)
    assert known["score"].truth(of) == pytest.approx(scores[most], rel=1e-4, abs=1e-4)
    (*_, last) = known["score"].material(of)
    assert last[1] in known["score"].explain(of)  # it calculates with the number that was given
    assert known["weight"].truth(of) == pytest.approx(100 * weights[most], abs=1e-3)
    values = of.attention.calls[of.place.layer].v[of.place.head].double().numpy()[of.open_keys]
    mixed = weights @ values
    assert abs(known["mix"].truth(of)) == pytest.approx(np.abs(mixed).max(), rel=1e-3, abs=1e-4)


def test_points_of_a_long_row_are_for_neighbours_together() -> None:
    text = (
        "The animal didn't cross the street because it was too tired, and the old man in the small "
        "house saw it and came."
    )
    of, task = seen("en-de-small", text, HEADS[0], "divided"), tasks()["spread"]
    _, _, weights = by_hand(of)
    words = of_words(of, weights)
    n = len(words)
    assert MOST < n < len(weights) and n <= 2 * MOST and "neighbours together" in task.ask(of)
    pairs = [sum(words[i : i + 2]) for i in range(0, n, 2)]
    assert task.truth(of) == pytest.approx(pairs, abs=1e-5)
    assert task.options(of)[0] == f"{of.words[0]} … {of.words[1]}"
    assert len(task.options(of)) == len(pairs) <= MOST
    assert task.is_right(of, task.truth(of)) and task.explain(of)


NUMBER = re.compile(r"−?\d[\d,]*(?:\.\d+)?")
WORKED_OUT = ("dot", "score", "weight", "mix", "slope", "deviation", "smoothed_loss", "operations")


def worked_out(name: str, rows: list[str]) -> float:
    """What somebody with a calculator gets from the numbers on the page."""
    said = [[float(n.replace("−", "-").replace(",", "")) for n in NUMBER.findall(r)] for r in rows]
    match name:
        case "dot" | "mix":
            return math.fsum(math.prod(each) for each in said)
        case "score" | "deviation":
            return said[0][0] / said[2][0]
        case "weight":
            return 100 * max(each[-1] for each in said[:3]) / math.fsum(each[-1] for each in said)
        case "slope":
            return said[0][0] * (1 - said[0][0])
        case "smoothed_loss":
            return 0.9 * said[0][0] + 0.1 * said[1][0]
    return said[1][0] / said[0][0]  # operations


@EACH_ROW
def test_the_numbers_on_the_page_are_enough(
    checkpoint: str, text: str, head: str, row: str
) -> None:
    of = seen(checkpoint, text, head, row)
    for name in WORKED_OUT:
        task = tasks()[name]
        found = worked_out(name, [value for _, value in task.material(of)])
        assert task.is_right(of, found) and task.is_right(of, round(found, task.decimals)), name


def test_a_row_of_a_decoder_is_counted_from_the_token_that_the_page_names() -> None:
    """No line of tokens shows the token at the start, which counts."""
    of, task = seen("en-de-small", "It rains.", HEADS[1], "last"), tasks()["open_keys"]
    assert task.material(of) == (("position 0", "<s>"), ("position 3", "."))
    assert task.truth(of) == 4
    assert "‘<s>’" in task.hint(of, 3) and "‘.’" in task.hint(of, 3)
    closed = tasks()["closed_cells"]
    assert closed.explain(of) == "Row by row 3 + 2 + 1 + 0: 6 of 16 cells are closed."
    crossed = seen("en-de-small", "It rains.", HEADS[0], "last")
    assert "Row by row" not in closed.explain(crossed) and len(task.material(crossed)) == 1


def test_padding_closes_its_columns_in_rows_of_padding_too() -> None:
    of, task = seen("copy", "4 9 2 8 6", HEADS[2], "last", (5,)), tasks()["padding"]
    n = len(of.attention.keys)
    is_closed = [key >= n for _ in range(n + 5) for key in range(n + 5)]
    assert task.truth(of) == sum(is_closed) and not task.is_right(of, 5 * n)


def test_a_share_is_right_where_per_cent_are_asked() -> None:
    of, task = seen("copy", "4 9 2 8 6", HEADS[0], "last", (4000, 1000)), tasks()["rate"]
    assert task.is_right(of, 25) and task.is_right(of, 0.25)
    assert not task.is_right(of, 2.5) and not task.is_right(of, 2500)
    assert not tasks()["turn"].is_right(seen("copy", "4 9", HEADS[0], "last", (3,)), 0.9)


def test_the_hint_of_a_shift_says_what_its_row_does() -> None:
    """It said that no two words come nearer, to whoever had guessed too little for that reason."""
    of, task = seen("en-de-small", "It rains.", HEADS[0], "last", (2,)), tasks()["shifted"]
    row = moved(of)[of.place.query]
    assert 0 < row < 1 and percent_of(row) in task.hint(of, 0)


def test_a_word_that_looks_at_itself_is_said_to() -> None:
    for text in SENTENCES["copy"]:
        for row in ("first", "last", "divided"):
            of = seen("copy", text, "most previous in decoder_self", row)
            own = of.open_keys[of.strongest] == of.place.query
            assert ("looks at itself" in tasks()["strongest"].explain(of)) == own


def test_without_the_scale_what_the_model_adds_to_a_score_stays() -> None:
    of = seen("copy", "4 9 2 8 6", HEADS[2], "last")
    place, attention = of.place, of.attention
    n, call = len(of.open_keys), attention.calls[place.layer]
    bias = torch.linspace(-3, 3, call.n_heads * n * n).view(-1, n, n)
    calls = tuple(replace(each, bias=bias) for each in attention.calls)
    attentions = {**of.recording.attentions, place.kind: replace(attention, calls=calls)}
    biased = replace(of, recording=replace(of.recording, attentions=attentions))
    products, _, _ = by_hand(of)
    scores = products + bias[place.head, place.query].numpy()
    powers = np.exp(scores - scores.max())
    expected = (powers / powers.sum())[biased.strongest]
    assert (
        tasks()["unscaled"]
        .explain(biased)
        .startswith(f"Without the scale it would get {percent_of(expected)} ")
    )


def test_a_wrong_answer_is_repeated_beside_the_truth() -> None:
    of, known = seen("copy", "4 9 2 8 6", HEADS[0], "last", (4000, 1000)), tasks()
    assert known["strongest"].repeat(of, 1) == f": you answered ‘{of.words[1]}’"
    assert known["unscaled"].repeat(of, 2) == ": you answered more"
    assert known["dot"].repeat(of, -1234567.5) == ": you answered −1234567.5"
    assert known["spread"].repeat(of, (1.0, 0.0)) == ""
