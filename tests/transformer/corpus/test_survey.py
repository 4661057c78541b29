"""A survey in batches says of every head what recordings of its sentences say, one by one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.conftest import SENTENCES, random_checkpoint, tiny
from tests.representatives import MARK, cases
from tests.transformer.hugging_face.saving import save, writer
from tests.transformer.own_module.test_from_module import copier
from tests.transformer.watch.models_table import built
from transformer import Checkpoint, InputError, decode, load_checkpoint, record
from transformer.analysis.metrics.metrics import measure
from transformer.config import ModelConfig
from transformer.corpus.batches import BatchAttention, of_recording
from transformer.corpus.measured import SentenceHeads, columns, measured
from transformer.corpus.shards import Parts, table_of, write_part
from transformer.corpus.summary import read_survey, summary
from transformer.corpus.survey import Portion, Surveyor, counted, survey
from transformer.recording import WeightsCall
from transformer.token import Token

N = 64
SHIPPED = ["copy", "en-de", "en-de-small", "everyday", "sentiment", "sentiment-mean", "shakespeare"]
Heads = dict[tuple[int, str], SentenceHeads]


def sentences_of(name: str) -> list[str]:
    """Of mixed lengths: the longest is more than three times the shortest."""
    if name == "copy":
        return [" ".join(str(2 + (i * j) % 10) for j in range(1, 3 + i % 6)) for i in range(N)]
    return [" ".join([*SENTENCES, *SENTENCES][i : i + 1 + i % 4]) for i in range(N)]


FEW = {
    "three attentions of words": "en-de-small",
    "three of numbers": "copy",
    "a text that goes on": "shakespeare",
    "a text that is read": "sentiment",
}
"""What is recorded of a sentence -> the smallest checkpoint that shows it."""


@pytest.fixture(scope="module", params=cases(SHIPPED, FEW))
def checkpoint(request: pytest.FixtureRequest) -> Checkpoint:
    return load_checkpoint(Path("checkpoints") / request.param, "cpu")


@pytest.fixture(scope="module")
def lines(checkpoint: Checkpoint) -> dict[int, str]:
    return dict(enumerate(sentences_of(checkpoint.name), 1))


@pytest.fixture(scope="module")
def portion(checkpoint: Checkpoint, lines: dict[int, str]) -> Portion:
    """All in one batch, so that padding is as long as the longest."""
    return Surveyor(checkpoint, N, counted(checkpoint, lines.values())).survey(lines)


def by_place(heads: Sequence[SentenceHeads]) -> Heads:
    return {(each.sentence, each.kind): each for each in heads}


def assert_alike(some: Sequence[SentenceHeads], others: Sequence[SentenceHeads]) -> None:
    """The same sentences in the same order, and the same numbers but for rounding."""
    assert [(it.sentence, it.kind) for it in some] == [(it.sentence, it.kind) for it in others]
    for one, other in zip(some, others, strict=True):
        assert (one.queries, one.keys, one.n_layers) == (other.queries, other.keys, other.n_layers)
        for name in ("numbers", "footprint", "peaks"):
            close: dict[str, Any] = {"rtol": 0, "atol": 1e-5, "equal_nan": True}
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), **close)


def test_a_batch_says_what_recordings_say(
    checkpoint: Checkpoint, lines: dict[int, str], portion: Portion
) -> None:
    batch, counts = by_place(portion.heads), counted(checkpoint, lines.values())
    assert len({sentence for sentence, _ in batch}) == N and not portion.left_out
    lengths = [len(each.queries.split(" ")) for each in portion.heads]
    assert max(lengths) >= 3 * min(lengths)
    for number, text in [*lines.items()][::4]:
        target = decode(checkpoint, text).target if checkpoint.family.target == "needed" else None
        recording = record(checkpoint, text, target)
        for attention in of_recording(recording):
            (alone,) = measured(attention, [number], counts)
            assert_alike([batch[number, attention.kind]], [alone])
        for kind, attention in recording.attentions.items():
            numbers = torch.from_numpy(batch[number, kind].numbers)
            for layer in range(attention.n_layers):
                rows = numbers[layer * attention.n_heads : (layer + 1) * attention.n_heads]
                for name, values in measure(attention, layer).items():
                    close = {"rtol": 0.0, "atol": 1e-5, "equal_nan": True}
                    column = rows[:, columns().index(name)]
                    torch.testing.assert_close(column, values, **close)


@pytest.mark.parametrize(
    "checkpoint", ["en-de-small", pytest.param("shakespeare", marks=MARK)], indirect=True
)
def test_order_and_members_of_batches_do_not_matter(
    checkpoint: Checkpoint, lines: dict[int, str], portion: Portion
) -> None:
    counts = counted(checkpoint, lines.values())
    for size in (1, 7):
        shuffled = {number: lines[number] for number in sorted(lines, key=lambda n: n * 37 % 65)}
        assert_alike(Surveyor(checkpoint, size, counts).survey(shuffled).heads, portion.heads)


@pytest.mark.parametrize("checkpoint", ["en-de-small"], indirect=True)
def test_parts_alone_make_the_summary_again(portion: Portion, tmp_path: Path) -> None:
    half = [each for each in portion.heads if each.sentence <= N // 2]
    rest = [each for each in portion.heads if each.sentence > N // 2]
    whole = summary(portion.heads)
    for number, some in enumerate((half, [], rest)):
        write_part(table_of(some, "of a reason"), tmp_path, number)
    assert Parts(tmp_path).one_by_one == "of a reason"
    assert summary(Parts(tmp_path)) == whole
    assert read_survey(whole.to_json()) == whole
    assert len(whole.to_csv().splitlines()) == 1 + sum(len(it.numbers) for it in whole.heads)
    write_part(table_of(rest).replace_schema_metadata({}), tmp_path, 9)
    with pytest.raises(InputError, match=r"part-00009.* remove it"):
        summary(Parts(tmp_path))


@pytest.mark.parametrize("checkpoint", ["en-de-small"], indirect=True)
def test_intervals_do_not_depend_on_how_many_come_at_a_time(
    portion: Portion, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = summary(portion.heads)
    monkeypatch.setattr("transformer.corpus.summary.COLUMNS", 50)
    for one, other in zip(whole.heads, summary(portion.heads).heads, strict=True):
        assert {*one.numbers} == {*other.numbers}
        for name, estimate in one.numbers.items():
            assert astuple(other.numbers[name]) == pytest.approx(astuple(estimate))


@pytest.mark.parametrize("checkpoint", ["en-de-small"], indirect=True)
def test_a_summary_is_of_all_rows(portion: Portion) -> None:
    peaks: dict[tuple[str, int, int], list[float]] = {}
    for each in portion.heads:
        for at, row in enumerate(each.peaks):
            place = each.kind, at // each.n_heads, at % each.n_heads
            peaks.setdefault(place, []).extend(row[np.isfinite(row)].tolist())
    for head in summary(portion.heads).heads:
        rows = np.array(peaks[head.kind, head.layer, head.head])
        assert abs(head.strongest[0].weight - rows.max()) < 1e-6
        sentences = [row.sentence for row in head.strongest]
        assert len(set(sentences)) == len(sentences) == 5
        assert head.deciles[0].low <= rows.min() and head.deciles[-1].high >= rows.max() - 1e-4
        share = (rows < head.deciles[4].high).mean() if len(head.deciles) == 10 else 0.5
        assert abs(share - 0.5) < 0.05
        assert sum(decile.share for decile in head.deciles) == pytest.approx(1)
        for decile in head.deciles:
            assert decile.rows
            within = (rows >= decile.low - 1e-6) & (rows < decile.high + 1e-6)
            assert abs(decile.share - within.mean()) < 0.02
            for row in decile.rows:
                assert decile.low - 1e-6 <= row.weight <= decile.high + 1e-6
        assert abs(sum(head.footprint) - 1) < 1e-4
        assert head.numbers["entropy"].low <= head.numbers["entropy"].mean  # type: ignore[operator]


def planted(rows: Sequence[Sequence[float]], pieces: str, source: bool = True) -> BatchAttention:
    """One head that has these weights over these tokens; the last one is special."""
    weights = torch.tensor([rows])
    ids = {piece: id for id, piece in enumerate(dict.fromkeys(pieces))}
    tokens = tuple(Token(ids[piece], piece, special=piece == "$") for piece in pieces)
    nothing = weights.new_empty(1, len(pieces), 0)
    call = WeightsCall(nothing, nothing, nothing, None, 1.0, False, given=weights)
    return BatchAttention("encoder_self", False, source, (tokens,), (tokens,), (tokens,), [call])


def one_hot(keys: Sequence[int]) -> list[list[float]]:
    return [[float(key == at) for at in range(len(keys))] for key in keys]


@pytest.mark.parametrize(
    ("role", "keys", "chance"),
    [
        ("induction", [4, 5, 2, 1, 2, 5], 1 / 6),  # after the other a, b; c has none
        ("duplicate", [3, 4, 2, 0, 1, 5], 1 / 6),
        ("end", [5] * 6, 1 / 6),
        ("rare", [2] * 6, 1 / 6),
    ],
)
def test_a_planted_head_has_its_role(role: str, keys: list[int], chance: float) -> None:
    counts = {0: 9, 1: 9, 2: 1, 3: 0}
    (head,) = measured(planted(one_hot(keys), "abcab$"), [1], counts)
    numbers = dict(zip(columns(), head.numbers[0].tolist(), strict=True))
    assert numbers[role] == pytest.approx(1)
    assert numbers[f"{role}_chance"] == pytest.approx(chance, abs=1e-4)
    (even,) = measured(planted([[1 / 6] * 6] * 6, "abcab$"), [1], counts)
    numbers = dict(zip(columns(), even.numbers[0].tolist(), strict=True))
    assert numbers[role] == pytest.approx(numbers[f"{role}_chance"])


def test_layers_with_masks_of_their_own() -> None:
    """A window in every other layer: each layer has the numbers that it has by itself."""
    one = planted([[1 / 6] * 6] * 6, "abcab$")
    place = torch.arange(6)
    is_near = (place[:, None] - place).abs()[None]
    masks = (is_near <= 2, is_near >= 0, is_near <= 2, is_near == 0)
    calls = [replace(one.calls[0], mask=mask) for mask in masks]
    (together,) = measured(replace(one, calls=calls), [1])
    for layer, call in enumerate(calls):
        (alone,) = measured(replace(one, calls=[call]), [1])
        for name in ("numbers", "peaks"):
            np.testing.assert_array_equal(getattr(together, name)[layer], getattr(alone, name)[0])
    duplicate = together.numbers[:, columns().index("duplicate_chance")]
    # The other a, b is three places away: in a window of two places there is none.
    np.testing.assert_allclose(duplicate, [np.nan, 1 / 6, np.nan, np.nan], rtol=1e-5)
    assert np.isnan(together.peaks).all(1).tolist() == [False, False, False, True]


def test_heads_with_masks_of_their_own() -> None:
    """A window in one head of a layer: each head has the numbers that it has by itself."""
    one = planted([[1 / 6] * 6] * 6, "abcab$")
    place = torch.arange(6)
    masks = ((place[:, None] - place).abs()[None] <= most for most in (2, 6, 2))
    calls = [replace(one.calls[0], mask=mask) for mask in masks]
    parts = {name: torch.cat([getattr(each, name) for each in calls]) for name in ("q", "k", "v")}
    weights, mask = (torch.cat([getattr(each, it) for each in calls]) for it in ("given", "mask"))
    both = replace(calls[0], **parts, given=weights, mask=mask)
    (together,) = measured(replace(one, calls=[both]), [1])
    for head, call in enumerate(calls):
        (alone,) = measured(replace(one, calls=[call]), [1])
        np.testing.assert_array_equal(together.numbers[head], alone.numbers[0])
    duplicate = together.numbers[:, columns().index("duplicate_chance")]
    np.testing.assert_allclose(duplicate, [np.nan, 1 / 6, np.nan], rtol=1e-5)


def test_two_unknown_words_are_no_repetition() -> None:
    one = planted(one_hot([3, 4, 2, 0, 1, 5]), "abcab$")
    (tokens,) = one.keys
    unknown = tuple(replace(each, unknown=each.piece == "a") for each in tokens)
    (head,) = measured(
        replace(one, keys=(unknown,), queries=(unknown,), names=(unknown,)), [1], {0: 1, 1: 9, 2: 9}
    )
    of = dict(zip(columns(), head.numbers[0].tolist(), strict=True))
    assert of["duplicate"] == pytest.approx(1)  # of the two b alone
    assert of["duplicate_chance"] == pytest.approx(1 / 6)
    # Where nothing but what is unknown comes twice, nothing is repeated, and none is the rarest.
    unknown = tuple(replace(each, unknown=each.piece in "ab") for each in tokens)
    (head,) = measured(
        replace(one, keys=(unknown,), queries=(unknown,), names=(unknown,)), [1], {0: 1, 1: 9, 2: 9}
    )
    of = dict(zip(columns(), head.numbers[0].tolist(), strict=True))
    assert np.isnan([of["duplicate"], of["induction"]]).all()
    assert of["rare"] == pytest.approx(1 / 6)  # of c, which its own row looks at


def test_what_chance_leaves() -> None:
    (head,) = measured(planted([[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0]] * 2, "abc$"), [1])
    of = dict(zip(columns(), head.numbers[0].tolist(), strict=True))
    for role in ("same", "next", "first", "uniform"):
        score, chance = of[role], of[f"{role}_chance"]
        assert chance == pytest.approx(1 / 4)
        assert of[f"{role}_above"] == pytest.approx((score - chance) / (1 - chance), abs=1e-6)
    assert of["uniform"] == pytest.approx(0.5)  # .25 each of two keys


@pytest.mark.parametrize("checkpoint", ["everyday"], indirect=True)
def test_a_causal_head_has_the_metrics_of_head_vis(checkpoint: Checkpoint) -> None:
    """The formulas of HeadVis' compute-head-metrics, in loops, over one sentence.

    Two things differ there: weights below .01 do not count for induction, and in "A A" the second
    A is what followed the first.
    """
    line = "the old man was happy and the old dog was happy"
    attention = record(checkpoint, line, None).attentions["decoder_self"]
    ids = [token.id for token in attention.keys]
    (heads,) = Surveyor(checkpoint).survey({1: line}).heads
    for layer in range(attention.n_layers):
        for head, of in enumerate(attention.weights(layer).tolist()):
            n = range(len(ids))
            repeated = [
                sum(of[q][p + 1] for p in range(q) if ids[p] == ids[q] and p + 1 < q)
                for q in n
                if any(ids[p] == ids[q] and p + 1 < q for p in range(q))
            ]
            expected = {
                "same": sum(of[q][q] for q in n) / len(n),
                "previous": sum(of[q][q - 1] for q in n[1:]) / (len(n) - 1),
                "induction": sum(repeated) / len(repeated),
                "first": sum(of[q][0] for q in n) / len(n),
                "distance": sum(of[q][k] * (q - k) for q in n for k in range(q)) / len(n),
            }
            numbers = heads.numbers[layer * attention.n_heads + head]
            for name, value in expected.items():
                assert numbers[columns().index(name)] == pytest.approx(value, abs=1e-5), name


def test_watched_models_come_in_batches_where_these_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    lines = {1: "the cat sat .", 2: "dog", 3: "the dog ran the cat ran .", 4: "", 5: "the cat"}
    for family in ("Llama", "Marian"):
        checkpoint = load_checkpoint(save(writer(family), tmp_path / family), "cpu")
        together, alone = Surveyor(checkpoint), Surveyor(checkpoint)
        assert together.why_alone == ""
        alone.why_alone = "for comparison"
        assert_alike(together.survey(lines).heads, alone.survey(lines).heads)
    one_token = {1: "cat\tdog", 2: "dog\tcat sat", 3: "sat\tcat"}  # of a side, in every text
    assert_alike(together.survey(one_token).heads, alone.survey(one_token).heads)


@pytest.mark.parametrize("family", ["ConvBERT", "DeepSeek-V3.2"])
def test_a_batch_that_is_wrong_in_longer_texts_only(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A convolution over padding; an indexer that picks four keys: short texts do not show it."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    save(built(family), tmp_path)
    assert Surveyor(load_checkpoint(tmp_path, "cpu")).why_alone


@pytest.mark.parametrize("checkpoint", ["everyday"], indirect=True)
def test_a_continuation_is_counted_as_it_is_read(checkpoint: Checkpoint) -> None:
    """Else all its tokens would be the rarest, however often they come."""
    line = "the old man\twas happy with the dog and the dog was happy"
    read = record(checkpoint, *line.split("\t")).attentions["decoder_self"].keys
    assert counted(checkpoint, [line]) == Counter(token.id for token in read)
    source, continuation = line.split("\t")
    head = survey(checkpoint, [source], [continuation]).heads[0]
    (alone,) = Surveyor(checkpoint, 1, counted(checkpoint, [line])).survey({1: line}).heads
    assert head.numbers["rare"].mean == pytest.approx(alone.numbers[0, columns().index("rare")])


def test_a_module_of_one_s_own_is_read_one_by_one() -> None:
    surveyor = Surveyor(copier())
    assert "mask" in surveyor.why_alone
    assert survey(copier(), ["abc", "d"]).one_by_one == surveyor.why_alone
    heads = surveyor.survey({1: "abc", 2: "d"}).heads
    assert {each.kind for each in heads} == {"encoder_self", "decoder_self", "cross"}


def test_survey_of_sentences_and_targets() -> None:
    checkpoint = random_checkpoint(tiny(ModelConfig()))
    result = survey(checkpoint, ["3 4 5 6", "7 8"], ["9 10", "11 12 13"])
    assert result.n_sentences == 2
    cross = result.of("cross", 1, 2)
    pieces = {"9", "10", "11", "12", "13", "</s>"}
    assert {row.row_piece for row in cross.strongest} <= {*"1", *pieces}
    assert {row.query_piece for row in cross.strongest} <= {"<s>", "1", *pieces}
    (reason,) = survey(checkpoint, ["3 4", "what"]).left_out
    assert reason.startswith("line 2 is left out: ")
    with pytest.raises(InputError, match="1 targets"):
        survey(checkpoint, ["3 4", "5"], ["6"])


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_survey_on_cuda() -> None:
    lines = dict(enumerate(sentences_of("en-de"), 1))
    folder = Path("checkpoints") / "en-de"
    gpu, cpu = (Surveyor(load_checkpoint(folder, it)).survey(lines) for it in ("cuda", "cpu"))
    alike = 0
    for one, other in zip(gpu.heads, cpu.heads, strict=True):
        if (one.queries, one.keys) == (other.queries, other.keys):  # else it wrote another word
            alike += 1
            np.testing.assert_allclose(one.numbers, other.numbers, rtol=0, atol=2e-2)
    assert alike > 0.9 * len(cpu.heads)
