"""What tasks take for true is what q, k, v, mask and scale give, computed a second way."""

import math

import numpy as np
import pytest

from tests.viz.lessons.test_every_task import HEADS, SENTENCES, seen
from viz.lessons.kinds import tasks
from viz.lessons.seen import Seen
from viz.lessons.tasks.spread import MOST

ROWS = [
    (checkpoint, text, head, row)
    for checkpoint, texts in SENTENCES.items()
    for text in texts[:2]
    for head in HEADS
    for row in ("divided", "sharpest")
]


def by_hand(of: Seen) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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


@pytest.mark.parametrize(("checkpoint", "text", "head", "row"), ROWS)
def test_each_step_of_attention(checkpoint: str, text: str, head: str, row: str) -> None:
    of, known = seen(checkpoint, text, head, row), tasks()
    products, scores, weights = by_hand(of)
    most = int(weights.argmax())
    assert known["strongest"].truth(of) == most
    assert known["spread"].truth(of) == pytest.approx(weights.tolist(), abs=1e-5)
    assert known["dot"].truth(of) == pytest.approx(products[most], rel=1e-4, abs=1e-4)
    assert known["score"].truth(of) == pytest.approx(scores[most], rel=1e-4, abs=1e-4)
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
    n = len(weights)
    assert MOST < n <= 2 * MOST and "neighbours together" in task.ask(of)
    pairs = [weights[i : i + 2].sum() for i in range(0, n, 2)]
    assert task.truth(of) == pytest.approx(pairs, abs=1e-5)
    assert task.options(of)[0] == f"{of.words[0]} … {of.words[1]}"
    assert len(task.options(of)) == len(pairs) <= MOST
    assert task.is_right(of, task.truth(of)) and task.explain(of)
