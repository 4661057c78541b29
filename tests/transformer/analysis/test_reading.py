"""What a reading merges, hides and renormalises, against a direct double loop."""

import gc
import weakref
from dataclasses import replace
from typing import get_args

import pytest
import torch
from torch import Tensor

from tests.conftest import SENTENCES
from tests.transformer.analysis.lenses.given import recording_of, self_attention
from transformer import Checkpoint, Recording, evidence, record
from transformer.analysis.reading import AttentionMap, Reading, lenses, read
from transformer.recording import Attention, AttentionCall
from transformer.token import Token
from transformer.words import word_groups

KINDS = ("encoder_self", "decoder_self", "cross")
SPECIAL = get_args(Reading.__annotations__["special"])
close = {"rtol": 0.0, "atol": 1e-5}


@pytest.fixture(scope="module")
def recording(text_checkpoint: Checkpoint) -> Recording:
    texts = "she doesn't know us", "the old man forgets"
    of_output = evidence(text_checkpoint, *texts)
    return replace(record(text_checkpoint, *texts), hidden=of_output.hidden)


def merged(shown: AttentionMap, layer: int) -> Tensor:
    """[H, R, C], cell by cell: keys summed, or the largest that is open; queries averaged."""
    values = shown.lens.compute(shown.recording, shown.kind, layer)
    is_open = shown.attention.allowed(layer)
    is_open = is_open if shown.lens.per_head else is_open.any(0, keepdim=True)
    result = torch.zeros(len(values), len(shown.rows), len(shown.columns))
    for h, head in enumerate(values.double().tolist()):
        for r, queries in enumerate(shown.row_groups):
            for c, keys in enumerate(shown.column_groups):
                if shown.lens.merge == "sum":
                    rows = [sum(head[i][j] for j in keys) for i in queries]
                else:
                    cells = [[head[i][j] for j in keys if is_open[h, i, j]] for i in queries]
                    rows = [max(row) for row in cells if row]
                result[h, r, c] = sum(rows) / len(rows) if rows else 0.0
    return result


@pytest.mark.parametrize("lens", [name for name in lenses() if name != "flow"])
@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("special", SPECIAL)
def test_it_equals_a_double_loop(
    recording: Recording, lens: str, words: bool, special: str
) -> None:
    kinds = [kind for kind in KINDS if not lenses()[lens].why_not(recording, kind)]
    assert kinds
    for kind in kinds:
        shown = read(recording, kind, Reading(lens, words=words, special=special))
        expected = merged(shown, 1)
        is_share = lenses()[lens].scale == "share"
        if special == "renormalised" and is_share:
            sums = expected.sum(-1, keepdim=True)
            expected = torch.where(sums > 0, expected / sums, expected)
        values = shown.values(1)
        torch.testing.assert_close(values, expected, **close)
        if is_share and special == "shown":
            torch.testing.assert_close(values.sum(-1), torch.ones(values.shape[:2]), **close)
        assert torch.equal(shown.values(1, shown.n_heads - 1), values[-1])
        assert torch.equal(shown.allowed(1) & (values == 0), shown.allowed(1) & (expected == 0))
        assert not values[~shown.allowed(1)].any()


@pytest.mark.parametrize("special", SPECIAL)
@pytest.mark.parametrize("kind", KINDS)
def test_words_and_hidden_tokens_go_together(recording: Recording, kind: str, special: str) -> None:
    attention = recording.attentions[kind]
    shown = read(recording, kind, Reading(words=True, special=special))
    for tokens, labels, groups in (
        (
            attention.produced if shown.is_produced else attention.queries,
            shown.rows,
            shown.row_groups,
        ),
        (attention.keys, shown.columns, shown.column_groups),
    ):
        kept = [g for g in word_groups(tokens) if special == "shown" or not tokens[g[0]].special]
        assert list(groups) == kept
        assert [label.id for label in labels] == [tokens[group[0]].id for group in kept]
        joined = ["".join(tokens[i].piece for i in group).lstrip("▁") for group in kept]
        assert [label.piece for label in labels] == joined
    assert "doesn't" in [token.piece for token in shown.columns] or kind == "decoder_self"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("words", [False, True])
def test_what_rows_lack_is_on_hidden_tokens(recording: Recording, kind: str, words: bool) -> None:
    hidden = read(recording, kind, Reading(words=words, special="hidden"))
    for layer in range(hidden.n_layers):
        lacks = 1 - hidden.values(layer).sum(-1).mean(-1)
        shares = [
            read(recording, kind, replace(hidden.reading, special=each)).hidden_shares(layer)
            for each in SPECIAL
        ]
        expected = dict(zip(SPECIAL, shares, strict=True))
        assert expected["shown"] is None
        for each in ("hidden", "renormalised"):
            torch.testing.assert_close(expected[each], lacks, **close)
    scores = read(recording, kind, replace(hidden.reading, lens="score"))
    assert scores.hidden_shares(0) is None  # they have no whole


def test_without_words_everything_is_as_it_was(recording: Recording) -> None:
    for kind, attention in recording.attentions.items():
        shown = read(recording, kind)
        assert torch.equal(shown.values(0), attention.weights(0))
        assert torch.equal(shown.allowed(0), attention.allowed(0))
        assert shown.columns == attention.keys
        assert shown.notes == ()


def test_rows_of_cross_attention_go_by_either_name(recording: Recording) -> None:
    cross = recording.attentions["cross"]
    for rows, tokens in (("produced", cross.produced), ("read", cross.queries)):
        shown = read(recording, "cross", Reading(rows=rows))
        assert shown.rows == tokens
        assert shown.is_produced == (rows == "produced")
        assert torch.equal(shown.values(0), cross.weights(0))
    assert not read(recording, "decoder_self").is_produced


def test_notes_say_what_was_done(recording: Recording) -> None:
    def notes(kind: str = "cross", **choices: object) -> tuple[str, ...]:
        return read(recording, kind, Reading(**choices)).notes

    assert notes(words=True) == ("words: sum over key pieces, mean over query pieces",)
    assert notes(words=True, lens="score")[0].startswith("words: maximum over key pieces")
    assert notes(special="hidden") == ("special tokens hidden: rows sum to less than 1",)
    assert notes(special="renormalised") == ("special tokens hidden, rows renormalised",)
    assert "only shares" in notes(special="renormalised", lens="sum_norm")[0]
    assert len(notes(words=True, special="hidden")) == 2
    plain = recording_of(encoder_self=self_attention([torch.full((1, 2, 2), 0.5)]))
    hidden = read(plain, "encoder_self", Reading(special="hidden"))
    assert hidden.notes == ("no special tokens here to hide",)


def test_rows_are_whole_where_only_queries_are_hidden() -> None:
    queries = (Token(1, "<s>", special=True), Token(5, "5"))
    keys = (Token(6, "6"), Token(7, "7"))
    call = AttentionCall(
        torch.ones(1, 2, 2), torch.ones(1, 2, 2), torch.ones(1, 2, 2), None, 1, False
    )
    plain = recording_of(cross=Attention("cross", queries, keys, (call,)))
    shown = read(plain, "cross", Reading(special="hidden"))
    assert shown.values(0).tolist() == [[[0.5, 0.5]]]
    assert shown.notes == ("special tokens hidden: no key among them, so rows are whole",)


def test_masked_cells_never_raise_the_bound() -> None:
    q = torch.tensor([[[1.0], [1.0]]])
    k = torch.tensor([[[2.0], [900.0]]])  # the second key is masked for the first query alone
    tokens = (Token(3, "▁a"), Token(4, "▁b"))
    mask = torch.tensor([[[True, False], [True, False]]])
    attention = Attention(
        "encoder_self", tokens, tokens, (AttentionCall(q, k, k, mask, 1.0, False),)
    )
    recording = recording_of(encoder_self=attention)
    assert read(recording, "encoder_self", Reading("score")).bounds == (-2.0, 2.0)
    assert read(recording, "encoder_self", Reading("value_norm")).bounds == (0.0, 2.0)
    assert read(recording, "encoder_self", Reading("weight")).bounds == (0.0, 1.0)


def test_a_masked_piece_does_not_beat_a_score_below_zero() -> None:
    q, k = torch.ones(1, 2, 1), torch.tensor([[[-3.0], [-1.0]]])
    tokens = (Token(3, "▁a"), Token(4, "b"))
    attention = Attention(
        "decoder_self", tokens, tokens, (AttentionCall(q, k, k, None, 1.0, True),)
    )
    shown = read(recording_of(decoder_self=attention), "decoder_self", Reading("score", words=True))
    assert shown.values(0).tolist() == [[[-2.0]]]  # the mean of -3, all that is open, and -1


def test_nothing_is_left_where_every_token_is_special() -> None:
    tokens = (Token(2, "</s>", special=True),)
    call = AttentionCall(
        torch.ones(1, 1, 2), torch.ones(1, 1, 2), torch.ones(1, 1, 2), None, 1, False
    )
    recording = recording_of(encoder_self=Attention("encoder_self", tokens, tokens, (call,)))
    for name in [name for name, lens in lenses().items() if not lens.of_output]:
        shown = read(recording, "encoder_self", Reading(name, words=True, special="hidden"))
        assert shown.values(0).shape == shown.allowed(0).shape == (1, 0, 0)
        assert shown.bounds[1] == 1.0


def test_a_lens_that_refuses_says_why(text_checkpoint: Checkpoint) -> None:
    long = record(text_checkpoint, " ".join([SENTENCES[0]] * 3), SENTENCES[1])
    with pytest.raises(ValueError, match="up to 24 tokens"):
        read(long, "encoder_self", Reading("flow"))
    with pytest.raises(ValueError, match="only defined for self-attention"):
        read(long, "cross", Reading("flow"))


def test_bounds_are_measured_once_and_go_with_their_recording(text_checkpoint: Checkpoint) -> None:
    recording = record(text_checkpoint, "she doesn't know us", "the old man forgets")
    calls = []

    def compute(recording: Recording, kind: str, layer: int) -> Tensor:
        calls.append(layer)
        return recording.attentions[kind].weights(layer)

    lens = replace(lenses()["score"], compute=compute)
    shown = [replace(read(recording, "cross"), lens=lens) for _ in range(2)]
    assert shown[0].bounds == shown[1].bounds
    assert calls == list(range(shown[0].n_layers))
    kept = weakref.ref(recording)
    del recording, shown
    gc.collect()
    assert kept() is None
