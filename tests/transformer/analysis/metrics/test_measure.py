"""Which metrics apply to which attention."""

import torch

from transformer.analysis.metrics.metrics import measure, metrics_of
from transformer.recording import Attention, AttentionCall
from transformer.token import Token

SOURCE = tuple(Token(i, str(i)) for i in range(4))
TARGET = tuple(Token(i, str(i)) for i in range(6))


def attention(queries: tuple[Token, ...], keys: tuple[Token, ...], kind: str = "any") -> Attention:
    q, k = torch.randn(2, len(queries), 3), torch.randn(2, len(keys), 3)
    return Attention(kind, queries, keys, (AttentionCall(q, k, k, None, 1.0, False),))


def test_the_diagonal_is_asked_only_of_one_sequence() -> None:
    assert {"previous", "same", "next"} <= set(metrics_of(attention(SOURCE, SOURCE)))
    assert not {"previous", "same", "next"} & set(metrics_of(attention(TARGET, SOURCE)))


def test_alignment_is_asked_only_of_cross_attention() -> None:
    for keys in (SOURCE, TARGET):  # the copy task's sides may be equal
        assert "alignment" in metrics_of(attention(TARGET, keys, "cross"))
        for kind in ("encoder_self", "decoder_self"):
            assert "alignment" not in metrics_of(attention(TARGET, keys, kind))


def test_a_layer_is_measured_head_by_head() -> None:
    measured = measure(attention(TARGET, SOURCE), layer=0)
    assert {"entropy", "distance", "confidence", "first"} <= set(measured)
    assert all(values.shape == (2,) for values in measured.values())
