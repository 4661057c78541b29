"""The search as a value: against an exhaustive search, a replay, and the forced pass."""

import math
import re
from itertools import product
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch.overrides import TorchFunctionMode

from tests.conftest import SENTENCES, random_checkpoint, tiny
from tests.presets import PRESETS
from tests.representatives import cases
from transformer import Checkpoint, InputError, decode, load_checkpoint, record
from transformer.config import ModelConfig
from transformer.decoding.beam import beam
from transformer.decoding.course import Trail
from transformer.decoding.phrases import Phrases, Placed
from transformer.inputs import source_ids

VOCAB, LIMIT, SOURCE = 7, 4, "3 5 4"


@pytest.fixture(scope="module")
def tiny_checkpoint() -> Checkpoint:
    """An encoder-decoder of seven tokens, whose texts can all be counted out."""
    return random_checkpoint(tiny(PRESETS["post-norm"].config, vocab_size=VOCAB), seed=3)


def price(checkpoint: Checkpoint, ids: tuple[int, ...], source: str = SOURCE) -> float:
    """log p(ids | source), by one forced pass."""
    tokens = [checkpoint.tokenizer.token(id) for id in ids]
    return decode(checkpoint, source, "forced", target=tokens).log_prob


def every_text(config: ModelConfig) -> list[tuple[int, ...]]:
    """All texts up to the limit: those that end, and those that are cut off."""
    inner = [id for id in range(config.vocab_size) if id != config.eos_id]
    ended = [(*ids, config.eos_id) for n in range(LIMIT) for ids in product(inner, repeat=n)]
    return [*ended, *product(inner, repeat=LIMIT)]


@pytest.fixture(scope="module")
def prices(tiny_checkpoint: Checkpoint) -> dict[tuple[int, ...], float]:
    texts = every_text(tiny_checkpoint.config)
    return {ids: price(tiny_checkpoint, ids) for ids in texts}


WHOLE = {"beam_size": VOCAB**LIMIT, "max_len": LIMIT, "early_stopping": 2}
"""A beam that drops nothing."""


@pytest.mark.thorough
@pytest.mark.parametrize("length_penalty", cases((0.0, 0.6, 1.5), {"lengths count": 0.6}))
def test_a_beam_that_drops_nothing_finds_the_best_of_all(
    tiny_checkpoint: Checkpoint, prices: dict[tuple[int, ...], float], length_penalty: float
) -> None:
    options = WHOLE | {"length_penalty": length_penalty}
    decoding = decode(tiny_checkpoint, SOURCE, "beam", **options)
    scores = {
        ids: log_prob / ((5 + len(ids)) / 6) ** length_penalty for ids, log_prob in prices.items()
    }
    best = sorted(scores.values(), reverse=True)
    assert len(decoding.hypotheses) == len(prices)
    found = [hypothesis.score for hypothesis in decoding.hypotheses]
    torch.testing.assert_close(found, best, rtol=0, atol=1e-4)
    for hypothesis in decoding.hypotheses[:40]:
        assert hypothesis.score == pytest.approx(scores[hypothesis.ids], abs=1e-4)


@pytest.mark.parametrize("force", [((4,),), ((5, 3),), ((4,), (6,)), ((3, 3),)])
def test_the_best_text_that_holds_the_forced_phrases(
    tiny_checkpoint: Checkpoint,
    prices: dict[tuple[int, ...], float],
    force: tuple[tuple[int, ...], ...],
) -> None:
    able = [ids for ids in prices if all(holds(ids, phrase) for phrase in force)]
    best = max(able, key=lambda ids: prices[ids])
    options = WHOLE | {"length_penalty": 0.0}
    decoding = decode(tiny_checkpoint, SOURCE, "beam", force=force, **options)
    assert all(holds(each.ids, phrase) for each in decoding.hypotheses for phrase in force)
    assert decoding.log_prob == pytest.approx(prices[best], abs=1e-4)
    small = decode(tiny_checkpoint, SOURCE, "beam", force=force, max_len=LIMIT, length_penalty=0.0)
    assert all(holds(each.ids, phrase) for each in small.hypotheses for phrase in force)
    assert small.log_prob == pytest.approx(
        price(tiny_checkpoint, small.hypotheses[0].ids), abs=1e-4
    )


def test_a_beam_of_fewer_places_than_banks_keeps_what_is_furthest(
    tiny_checkpoint: Checkpoint,
) -> None:
    """Post and Vilar 2018, section 3; so a beam of one writes what is forced before all else."""
    options: dict[str, Any] = {"beam_size": 1, "force": ((4,), (6,)), "max_len": LIMIT}
    (only,) = decode(tiny_checkpoint, SOURCE, "beam", **options).hypotheses
    assert {*only.ids[:2]} == {4, 6}


@pytest.mark.parametrize("forbid", [((4,),), ((3, 3),), ((5,), (6, 4)), ((2,),)])
def test_the_best_text_without_the_forbidden_phrases(
    tiny_checkpoint: Checkpoint,
    prices: dict[tuple[int, ...], float],
    forbid: tuple[tuple[int, ...], ...],
) -> None:
    able = [ids for ids in prices if not any(holds(ids, phrase) for phrase in forbid)]
    best = max(able, key=lambda ids: prices[ids])
    options = WHOLE | {"length_penalty": 0.0}
    decoding = decode(tiny_checkpoint, SOURCE, "beam", forbid=forbid, **options)
    assert len(decoding.hypotheses) == len(able)
    assert decoding.log_prob == pytest.approx(prices[best], abs=1e-4)
    for method in ("greedy", "sample", "diverse"):
        short = decode(tiny_checkpoint, SOURCE, method, forbid=forbid, max_len=LIMIT)
        assert not any(holds(short.hypotheses[0].ids, phrase) for phrase in forbid)


def test_constraints_that_cannot_be_kept_are_refused(text_checkpoint: Checkpoint) -> None:
    """In a sentence, and none of them is silently left out."""
    wrong: list[tuple[str, dict]] = [
        ("greedy", {"force": ["house"]}),
        ("sample", {"force": ["house"]}),
        ("beam", {"force": "house"}),
        ("beam", {"force": [" "]}),
        ("beam", {"force": [(30,)], "forbid": [(30,)]}),
        ("beam", {"prefix": (30, 31), "forbid": [(31,)]}),
        ("beam", {"prefix": (5, 6, 7), "max_len": 3}),
        ("greedy", {"prefix": (10**6,)}),
        ("greedy", {"prefix": (-1,)}),
        ("beam", {"force": [(30, 31, 32, 33)], "max_len": 3}),
        ("greedy", {"forbid": [(id,) for id in range(300)]}),
        ("forced", {"target": "house", "prefix": "the"}),
        ("greedy", {"prefix": (5, 2, 6)}),
        ("beam", {"force": [(5, 2)]}),
        ("beam", {"prefix": (5, 2), "force": [(6,)]}),
        ("beam", {"forbid": [(id,) for id in range(300)]}),
    ]
    for method, options in wrong:
        with pytest.raises(InputError):
            decode(text_checkpoint, SENTENCES[0], method, **options)


@pytest.mark.parametrize(
    ("force", "text", "n_whole"),
    [
        ([(4,), (4, 5)], (3, 4, 5), 2),
        ([(4, 5), (5, 6)], (4, 5, 6), 2),
        ([(1, 1, 2)], (1, 1, 1, 2), 1),
        ([(1, 2, 3), (2, 4)], (1, 2, 4), 1),
        ([(1, 2, 1)], (1, 2, 2, 1), 0),
        ([(1, 2, 1, 3)], (1, 2, 1, 2, 1, 3), 1),
    ],
)
def test_phrases_may_overlap(
    force: list[tuple[int, ...]], text: tuple[int, ...], n_whole: int
) -> None:
    phrases, placed = Phrases(tuple(force)), Placed()
    for id in text:
        placed = placed.after(id, phrases)
    assert len(placed.whole) == n_whole == sum(holds(text, each) for each in force)


@pytest.mark.parametrize("options", [{"force": [(30,)]}, {"coverage_penalty": 1.0}, {}])
@pytest.mark.parametrize("method", ["beam", "diverse"])
def test_what_beat_a_node_scores_better(
    text_checkpoint: Checkpoint, method: str, options: dict
) -> None:
    if method == "diverse" and "coverage_penalty" in options:
        return
    for sentence in SENTENCES[::60]:
        tree = decode(text_checkpoint, sentence, method, max_len=8, beam_size=6, **options).search
        for node in tree.nodes:
            if node.dropped and node.dropped.why in ("beam", "finished"):
                assert node.dropped.score is not None
                assert node.dropped.score >= node.score.before_coverage - 1e-5, node
        forced = {each.id for each in tree.nodes if each.is_forced}
        assert forced <= tree.living and bool(forced) == ("force" in options)


def test_what_is_forbidden_in_the_end_keeps_what_is_written(text_checkpoint: Checkpoint) -> None:
    """A text that cannot go on ends there, as it does where the model cannot."""
    free = decode(text_checkpoint, SENTENCES[0], max_len=3).hypotheses[0].ids
    size = text_checkpoint.config.vocab_size
    forbid = [(*free[:2], id) for id in range(size)]
    bound = decode(text_checkpoint, SENTENCES[0], prefix=free[:2], forbid=forbid, max_len=9)
    assert bound.hypotheses[0].ids == free[:2] and bound.ended_by and not bound.is_ended
    wide = decode(
        text_checkpoint, SENTENCES[0], "beam", prefix=free[:2], forbid=forbid, beam_size=2
    )
    assert wide.hypotheses[0].ids == free[:2] and wide.ended_by


def test_a_forced_word_is_a_whole_word(text_checkpoint: Checkpoint) -> None:
    tokenizer = text_checkpoint.tokenizer
    bound = decode(text_checkpoint, SENTENCES[0], "beam", force=["the"], max_len=12, beam_size=6)
    for each in bound.hypotheses:
        assert "the" in re.findall(r"\w+", tokenizer.decode(each.ids))


def test_a_forbidden_word_is_written_in_no_pieces(text_checkpoint: Checkpoint) -> None:
    """Neither as the vocabulary cuts it, nor otherwise."""
    token = text_checkpoint.tokenizer.token
    letters = [token(id) for id in text_checkpoint.tokenizer.encode("house", "text")]
    pieces = {token(id).piece: id for id in range(text_checkpoint.tokenizer.vocab_size)}
    spelled = [pieces["▁"], *(pieces[letter] for letter in "house")]
    assert [each.id for each in letters] != spelled
    for begin in range(1, len(spelled)):  # it may be begun, and not be finished
        bound = decode(
            *(text_checkpoint, SENTENCES[0], "beam"),
            **{"max_len": 12, "forbid": ["house"], "prefix": spelled[:begin]},
        )
        for each in bound.hypotheses:
            assert "▁house" not in "".join(token(id).piece for id in each.ids)
    with pytest.raises(InputError):
        decode(text_checkpoint, SENTENCES[0], forbid=["house"], prefix=spelled)


def holds(ids: tuple[int, ...], phrase: tuple[int, ...]) -> bool:
    """Tell whether the phrase stands in the text."""
    n = len(phrase)
    return any(ids[at : at + n] == phrase for at in range(len(ids) - n + 1))


def replay(
    checkpoint: Checkpoint, text: str, size: int, limit: int, penalty: float
) -> dict[tuple[int, ...], str]:
    """A beam search over forced passes: each node that it looks at -> kept, ended or dropped."""
    config, token = checkpoint.config, checkpoint.tokenizer.token
    fates: dict[tuple[int, ...], str] = {}
    going: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    ended: list[float] = []
    for length in range(1, limit + 1):
        candidates = []
        for total, ids in going:
            padded = [token(id) for id in (*ids, config.eos_id)]
            row = decode(checkpoint, text, "forced", target=padded).hypotheses[0].log_probs[-1]
            candidates += [(total + float(row[id]), (*ids, id)) for id in range(len(row))]
        candidates.sort(reverse=True)
        grown = []
        for rank, (total, ids) in enumerate(candidates[: 2 * size]):
            if ids[-1] == config.eos_id or length == limit:
                fates[ids] = "ended" if rank < size else "dropped"
                ended += [total / ((5 + length) / 6) ** penalty] * (rank < size)
            elif len(grown) < size:
                fates[ids] = "kept"
                grown.append((total, ids))
            else:
                fates[ids] = "dropped"
        ended = sorted(ended, reverse=True)[:size]
        going = grown
        best = grown[0][0] / ((5 + length) / 6) ** penalty if grown else -torch.inf
        if len(ended) == size and ended[-1] >= best:
            break
    return fates


@pytest.mark.parametrize("size", [1, 3, 8])
@pytest.mark.parametrize("sentence", SENTENCES[::60])
def test_the_tree_is_that_of_an_independent_search(
    text_checkpoint: Checkpoint, sentence: str, size: int
) -> None:
    options = {"beam_size": size, "max_len": 6, "length_penalty": 0.6}
    tree = decode(text_checkpoint, sentence, "beam", **options).search
    fates = replay(text_checkpoint, sentence, size, 6, 0.6)
    assert {tree.ids(node.id) for node in tree.nodes[1:]} == set(fates)
    for node in tree.nodes[1:]:
        fate = fates[tree.ids(node.id)]
        why = node.dropped.why if node.dropped else None
        if fate == "dropped":
            assert why == "beam"
        elif fate == "ended":
            assert (why == "finished") == (node.hypothesis is None)
        else:
            assert why in (None, "continuations", "stopped")
            has_after = any(each.dropped is None or each.dropped.why != "beam"
                            for each in tree.children(node.id))  # fmt: skip
            assert (why is None) == has_after


class Weights(TorchFunctionMode):
    """The last row of attention of each fused call, [B, H, K], from the call's own q and k."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[torch.Tensor] = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is F.scaled_dot_product_attention:
            q, k = args[:2]
            scores = q[:, :, -1:] @ k.mT / math.sqrt(q.size(-1))
            self.rows.append(scores.softmax(-1)[:, :, 0])
        return func(*args, **(kwargs or {}))


def test_what_a_beam_of_eight_looks_at_is_what_a_forced_pass_does(
    text_checkpoint: Checkpoint,
) -> None:
    """For every hypothesis, step and layer: no row of the batch is another hypothesis's."""
    model, sentence = text_checkpoint.model, SENTENCES[0]
    source = torch.tensor([source_ids(text_checkpoint, sentence)])
    search = beam(model, source, max_len=7, beam_size=8)
    seen: dict[tuple[int, ...], list[torch.Tensor]] = {}
    texts: list[tuple[int, ...]] = [()]
    state, logits = model.start(source), None
    while True:
        try:
            ask = next(search) if logits is None else search.send(logits)
        except StopIteration as end:
            hypotheses = end.value
            break
        if ask.parents is not None:
            state.reorder(ask.parents)
            texts = [texts[at] for at in ask.parents.tolist()]
            texts = [(*ids, id) for ids, [id] in zip(texts, ask.tokens.tolist(), strict=True)]
        with torch.inference_mode(), Weights() as observed:
            logits = model.advance(state, ask.tokens)
        for row, ids in enumerate(texts):
            seen[ids] = [each[row] for each in observed.rows]
    assert len(hypotheses) == 8
    for hypothesis in hypotheses:
        target = [text_checkpoint.tokenizer.token(id) for id in hypothesis.ids]
        recording = record(text_checkpoint, sentence, target)
        for step in range(len(hypothesis.ids)):
            for layer in range(text_checkpoint.config.n_decoder_layers):
                own, cross = seen[hypothesis.ids[:step]][2 * layer : 2 * layer + 2]
                forced_own = recording.attentions["decoder_self"].weights(layer)[:, step]
                forced_cross = recording.attentions["cross"].weights(layer)[:, step]
                torch.testing.assert_close(own, forced_own[:, : step + 1], rtol=0, atol=1e-5)
                torch.testing.assert_close(cross, forced_cross, rtol=0, atol=1e-5)


METHODS = [
    ("greedy", {}),
    ("beam", {"beam_size": 4}),
    ("beam", {"beam_size": 4, "force": [(30,)]}),
    ("beam", {"beam_size": 3, "forbid": [(30,), (40,)], "prefix": (20, 21)}),
    ("beam", {"beam_size": 3, "coverage_penalty": 0.4}),
    ("diverse", {}),
    ("sample", {"samples": 4, "seed": 5}),
    ("sample", {"prefix": (9, 9, 9)}),
]


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_sums_along_paths_are_those_of_the_forced_pass(
    text_checkpoint: Checkpoint, method: str, options: dict
) -> None:
    decoding = decode(text_checkpoint, SENTENCES[0], method, max_len=8, **options)
    tree, prefix = decoding.search, options.get("prefix", ())
    assert decoding.log_prob == pytest.approx(decoding.hypotheses[0].log_prob)
    assert [node.id for node in tree.nodes] == list(range(len(tree.nodes)))
    assert tree.nodes[0].parent is None and tree.nodes[0].token is None
    assert all(node.parent < node.id for node in tree.nodes[1:])
    for rank, hypothesis in enumerate(decoding.hypotheses):
        leaf = tree.leaf(rank)
        assert tree.ids(leaf.id) == hypothesis.ids
        assert hypothesis.ids[: len(prefix)] == prefix
        assert leaf.dropped is None
        assert leaf.score.total == pytest.approx(hypothesis.score, abs=1e-4)
    for node in tree.nodes[1 :: max(1, len(tree.nodes) // 12)]:
        ids = tree.ids(node.id)
        total = sum(each.log_prob for each in tree.path(node.id))
        assert total == pytest.approx(price(text_checkpoint, ids, SENTENCES[0]), abs=1e-5 * 50)
        assert node.score.log_prob == pytest.approx(total, abs=1e-4)
        assert node.score.length == len(ids) == tree.depth(node.id)
    forced = [node for node in tree.path(tree.leaf(0).id) if node.is_forced]
    assert len(forced) >= len(prefix) + len(options.get("force", ()))


def test_samples_are_those_of_their_seeds(text_checkpoint: Checkpoint) -> None:
    several = decode(text_checkpoint, SENTENCES[0], "sample", seed=7, samples=5, max_len=8)
    for n, hypothesis in enumerate(several.hypotheses):
        alone = decode(text_checkpoint, SENTENCES[0], "sample", seed=7 + n, max_len=8)
        assert alone.hypotheses[0].ids == hypothesis.ids
    paths = {each.ids[:n] for each in several.hypotheses for n in range(1, 9)}
    living = several.search.living
    assert len(living) - 1 == len({path for path in paths if path})


def test_a_prefix_is_gone_on_from(text_checkpoint: Checkpoint) -> None:
    whole = decode(text_checkpoint, SENTENCES[0], max_len=8)
    ids = whole.hypotheses[0].ids
    for method in ("greedy", "beam"):
        again = decode(text_checkpoint, SENTENCES[0], method, prefix=ids[:3], max_len=8)
        assert again.hypotheses[0].ids[:3] == ids[:3]
        if method == "greedy":
            assert again.hypotheses[0].ids == ids
            torch.testing.assert_close(
                again.hypotheses[0].log_probs, whole.hypotheses[0].log_probs, rtol=0, atol=1e-5
            )
    text = decode(text_checkpoint, SENTENCES[0], prefix="the animal", max_len=12)
    assert text.text.startswith("the animal")
    tokens = decode(text_checkpoint, SENTENCES[0], prefix=text.target[:2], max_len=12)
    assert tokens.target[:2] == text.target[:2]


def test_a_forced_word_costs_what_the_two_forced_passes_differ_by(
    text_checkpoint: Checkpoint,
) -> None:
    free = decode(text_checkpoint, SENTENCES[0], "beam", max_len=10)
    bound = decode(text_checkpoint, SENTENCES[0], "beam", max_len=10, force=[(30,)])
    prices = [
        price(text_checkpoint, each.hypotheses[0].ids, SENTENCES[0]) for each in (free, bound)
    ]
    assert 30 in bound.hypotheses[0].ids
    assert free.log_prob - bound.log_prob == pytest.approx(prices[0] - prices[1], abs=1e-4)


def test_what_was_ruled_out_says_so(text_checkpoint: Checkpoint) -> None:
    free = decode(text_checkpoint, SENTENCES[0], "beam", max_len=6)
    id = free.hypotheses[0].ids[0]
    bound = decode(text_checkpoint, SENTENCES[0], "beam", max_len=6, forbid=[(id,)])
    node = bound.search.find([id])
    assert node is not None and node.dropped is not None and node.dropped.why == "forbidden"
    assert str(node.dropped)


def test_a_very_large_tree_keeps_its_hypotheses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformer.decoding.course.MOST_NODES", 30)
    checkpoint = random_checkpoint(tiny(PRESETS["post-norm"].config, vocab_size=20), seed=3)
    decoding = decode(checkpoint, "3 5 4", "beam", beam_size=8, max_len=8)
    tree = decoding.search
    assert tree.n_left_out > 0
    for rank, hypothesis in enumerate(decoding.hypotheses):
        assert tree.ids(tree.leaf(rank).id) == hypothesis.ids
    assert all(node.parent < node.id for node in tree.nodes[1:])


def test_the_same_token_is_one_node() -> None:
    trail = Trail()
    first = trail.add(0, 5, -1.0)
    trail.drop(first, "chance")
    assert trail.add(0, 5, -1.0) == first
    tree = trail.tree(lambda id: None, [first])  # type: ignore[arg-type, return-value]
    assert len(tree.nodes) == 2 and tree.nodes[1].dropped is None


@pytest.mark.parametrize("text", ["I have never seen such a beautiful house.", "It rains."])
def test_no_other_group_is_blamed_where_there_is_one_beam(text: str) -> None:
    search = decode(load_checkpoint("en-de-small"), text, method="beam").search
    reasons = [node.dropped.why for node in search.nodes if node.dropped]
    assert "group" not in reasons and "beam" in reasons
    ends = [node for node in search.nodes if node.dropped and node.dropped.why == "end"]
    assert all(node.token is not None and node.token.special for node in ends)
