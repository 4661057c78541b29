"""Two heads beside each other in the browser are as far apart as in Python."""

from base64 import b64decode
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.viz.live.payloads import NEAR, ROOT, checkpoint_of, packed, tables_of
from transformer import Recording, decode, record
from transformer.analysis.metrics.metric import jensen_shannon, largest_difference
from transformer.analysis.reading import PLAIN, Selection, row_tokens
from viz.components.kit.browser import unpack
from viz.components.kit.picture import known_map, sides, twin
from viz.labels import in_word
from viz.pages.compare.second import beside
from viz.ui.picture import metric_texts
from viz.views.heads import describe_head_difference, why_not

TEXT = "She has two small dogs, didn't she?"
MADE_OF = "I like a beautiful house."
OFF = "head-off:cross.1.0"


@dataclass(frozen=True)
class Pair:
    """What A is, and what B is."""

    a: str
    first: Selection
    second: Selection
    text: str = TEXT
    b: str = ""
    edits: tuple[str, ...] = ()
    method: str = "beam"
    is_forced: bool = False


PAIRS = {
    "two heads of one run": Pair("en-de-small", Selection("cross", 2, 1), Selection("cross", 1, 3)),
    "heads of two kinds": Pair(
        "en-de-small", Selection("cross", 2, 1), Selection("encoder_self", 1, 3)
    ),
    "one head, with an edit, that reads the same words": Pair(
        *("en-de-small", Selection("cross", 2, 1), Selection("cross", 2, 1)),
        edits=(OFF,),
        is_forced=True,
    ),
    "other words by another method": Pair(
        *("en-de-small", Selection("decoder_self", 2, 1), Selection("decoder_self", 2, 1)),
        text="The old man who lives there told us that nobody had ever seen the sea.",
        method="greedy",
        edits=("hide:source.3",),
    ),
    "two checkpoints": Pair(
        *("sentiment", Selection("encoder_self", 0, 1), Selection("encoder_self", 0, 2)),
        b="sentiment-mean",
    ),
}


def read(pair: Pair) -> tuple[Recording, Recording]:
    checkpoint = checkpoint_of(pair.a)
    other = checkpoint_of(pair.b or pair.a)
    if not checkpoint.family.decodes:
        return record(checkpoint, pair.text), record(other, pair.text, None, pair.edits)
    target = decode(checkpoint, pair.text, "beam").target
    own = target
    if not pair.is_forced:
        own = decode(other, pair.text, pair.method, edits=pair.edits).target
    return (
        record(checkpoint, pair.text, target),
        record(other, pair.text, own, pair.edits),
    )


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_both_heads_are_as_far_apart(pair: Pair) -> None:
    a, b = read(pair)
    header, _ = asked(pair, "comparison")
    both = beside(a, b)
    other = Selection(f"{pair.second.kind}_b", pair.second.layer, pair.second.head)
    assert (header["whyNot"] or None) == why_not(both, pair.first, other)
    texts = [
        metric_texts(of.attentions[it.kind], it.layer, it.head)
        for of, it in ((a, pair.first), (b, pair.second))
    ]
    titles = dict.fromkeys(title for each in texts for title in each)
    assert header["numbers"] == [[it, *(each.get(it) for each in texts)] for it in titles]
    assert header["sides"] == {kind: sides(known_map(a, kind, PLAIN)) for kind in a.attentions}
    assert header["twins"] == {"a": {}, "b": twin(a, b)}
    if header["whyNot"]:
        assert header["heads"] is None
        return
    weights = [
        of.attentions[it.kind].weights(it.layer, it.head)
        for of, it in ((a, pair.first), (b, pair.second))
    ]
    far = (weights[0] - weights[1]).abs()
    query, key = divmod(int(far.argmax()), far.size(1))
    attention = a.attentions[pair.first.kind]
    assert header["heads"] == {
        "bits": f"{jensen_shannon(*weights):.4f}",
        "largest": f"{largest_difference(*weights):.4f}",
        "query": in_word(row_tokens(attention), query),
        "key": in_word(attention.keys, key),
        "a": f"{weights[0][query, key]:.2f}",
        "b": f"{weights[1][query, key]:.2f}",
    }
    header, (values, *_) = asked(pair, "difference")
    own = (weights[0] - weights[1]).numpy()
    assert np.nan_to_num(values) == pytest.approx(own, abs=NEAR)
    assert header["says"] == describe_head_difference(both, pair.first, other)
    assert header["bounds"][1] == pytest.approx(largest_difference(*weights), abs=NEAR)
    closed = ~attention.allowed(pair.first.layer, pair.first.head).numpy()
    assert (np.isnan(values) == closed).all()


def asked(pair: Pair, what: str) -> tuple[dict[str, Any], list[Any]]:
    request: dict[str, Any] = {"text": pair.text, "method": pair.method, "changes": pair.edits}
    b = {"asked": request, "isForced": pair.is_forced, "second": None}
    if pair.b:
        b["second"] = {"folder": str(ROOT / "checkpoints" / pair.b), "tables": tables_of(pair.b)}
    of = {"first": vars(pair.first), "second": vars(pair.second), "b": b}
    of["reading"] = {"words": False, "special": "shown"}
    case = {"asked": {"text": pair.text, "method": "beam"}, "pictures": {what: of}}
    (given,) = packed(pair.a, [case])
    assert "error" not in given, given["error"]
    return unpack(b64decode(given["payloads"][what]))
