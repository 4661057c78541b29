"""What heads align, from a model that has learnt to copy, whose alignment is known."""

from dataclasses import replace

import pytest
import torch

from transformer import Checkpoint, record
from transformer.analysis.alignment import (
    ROWS,
    AlignedPair,
    Reader,
    links_of,
    words_of_pieces,
)
from transformer.analysis.reading import Reading, read
from transformer.token import Token
from transformer.training.evaluation import heads
from transformer.training.evaluation.heads import (
    LENSES,
    aligned,
    anchors,
    error_rates,
    readings,
)
from transformer.training.task import TrainingError

SOURCE, TARGET = "the cat sees the sea.", "the old man likes a red book."


def words(text: str) -> tuple[str, list[str]]:
    return text, text.replace(".", " .").split()


@pytest.fixture
def pair() -> AlignedPair:
    return aligned(words(SOURCE), words(TARGET), [(0, 0), (1, 2), (5, 7)])


def test_every_head_layer_lens_and_row_is_a_reader(
    text_checkpoint: Checkpoint, pair: AlignedPair
) -> None:
    config = text_checkpoint.config
    n_layers, n_heads = config.n_decoder_layers, config.n_heads
    readers = [reader for reader, _ in readings(text_checkpoint, pair)]
    assert len(set(readers)) == len(readers) == 2 * n_layers * (2 * (n_heads + 1) + 1)


def test_links_are_those_of_the_map_of_words_on_screen(
    text_checkpoint: Checkpoint, pair: AlignedPair
) -> None:
    """read() merges pieces to words in its own way: the two agree on what is largest."""
    recording = record(text_checkpoint, pair.source, pair.target)
    found = dict(readings(text_checkpoint, pair))
    for rows in ROWS:
        shown = read(recording, "cross", Reading(rows=rows, words=True))
        columns = [i for i, token in enumerate(shown.columns) if not token.special]
        for reader, links in found.items():
            if (reader.rows, reader.lens) != (rows, "weight") or reader.head is None:
                continue
            chosen = shown.values(reader.layer, reader.head).argmax(-1).tolist()
            of_words = [c for c, token in zip(chosen, shown.rows, strict=True) if not token.special]
            assert links == {(columns.index(c), j) for j, c in enumerate(of_words) if c in columns}


def test_a_mean_is_over_the_heads_of_its_layer(
    text_checkpoint: Checkpoint, pair: AlignedPair
) -> None:
    attention = record(text_checkpoint, pair.source, pair.target).attentions["cross"]
    sides = (attention.queries, pair.target_words), (attention.keys, pair.source_words)
    rows, columns = (words_of_pieces(*side) for side in sides)
    found = dict(readings(text_checkpoint, pair))
    mean = attention.weights(1).mean(0, keepdim=True)
    assert [found[Reader("read", 1, None)]] == links_of(mean, rows, columns)


def test_the_best_head_of_a_set_is_named(
    text_checkpoint: Checkpoint, pair: AlignedPair, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = Reader("produced", 1, 2)
    readers = [reader for reader, _ in readings(text_checkpoint, pair)]
    fixed = [(reader, pair.sure if reader == right else frozenset()) for reader in readers]
    monkeypatch.setattr(heads, "readings", lambda *_: fixed)
    scores = error_rates(text_checkpoint, [pair, pair])
    assert scores["sentences"] == 2
    assert scores[f"weights, {ROWS['produced']}, best head (L1 H2), AER"] == 0
    others = [v for name, v in scores.items() if name.endswith("AER") and "L1 H2" not in name]
    assert len(others) == 1 + 5 * 2 - 1
    assert sorted(others)[1:] == [100] * (len(others) - 1)  # the first is the diagonal
    assert len(LENSES) == 3


def test_what_cannot_be_aligned_is_told(text_checkpoint: Checkpoint, pair: AlignedPair) -> None:
    wrong = replace(pair, source_words=("other",))
    with pytest.raises(TrainingError, match="cannot be aligned: the pieces do not spell"):
        error_rates(text_checkpoint, [wrong])
    with pytest.raises(TrainingError, match="cannot be aligned: The text has"):
        error_rates(text_checkpoint, [replace(pair, source="x" * 20_001)])


def test_anchors_occur_once_on_both_sides(text_checkpoint: Checkpoint) -> None:
    attention = record(text_checkpoint, SOURCE, TARGET).attentions["cross"]

    def tokens(pieces: str) -> tuple[Token, ...]:
        return tuple(Token(i, p, p == "</s>") for i, p in enumerate(pieces.split()))

    keys, produced = tokens("▁Tom ▁a ▁a ▁b . </s>"), tokens("▁b ▁Tom ▁Tom ▁a . </s>")
    renamed = replace(attention, keys=keys, produced=produced)
    assert anchors(renamed) == [(0, 3), (4, 4)]


def test_a_model_that_copies_finds_its_anchors(copy_checkpoint: Checkpoint) -> None:
    """After training, some head looks at the number that it is about to write."""
    text = "3 7 2 9"
    attention = record(copy_checkpoint, text, text).attentions["cross"]
    found = anchors(attention)
    assert [column for _, column in found] == [0, 1, 2, 3]
    weights = torch.stack([attention.weights(layer) for layer in range(attention.n_layers)])
    rows, columns = (list(side) for side in zip(*found, strict=True))
    hits = (weights[:, :, rows].argmax(-1) == torch.tensor(columns)).float().mean(-1)
    assert hits.max() == 1
