"""The lines between the token rows against the weights of the recording."""

import pytest

from transformer import decode, load_checkpoint, record
from transformer.words import word_groups
from viz.components.kit.browser import unpack
from viz.components.token_rows.token_rows import TokenRows


def test_lines_have_the_weights_of_the_last_layer() -> None:
    checkpoint = load_checkpoint("checkpoints/en-de-1", "cpu")
    text = "It is the case that nuts are being eaten by squirrels in Ouagadougou."
    recording = record(checkpoint, text, decode(checkpoint, text).target)
    attention = recording.attentions["cross"]
    weights = attention.weights(attention.n_layers - 1).mean(0)
    sources = word_groups(recording.source)
    wanted = []
    for group in word_groups(recording.target):
        row = sum(weights[i] for i in group) / len(group)
        sums = [sum(float(row[i]) for i in word) for word in sources]
        if max(sums) >= 0.2:
            wanted.append([group[0], sources[sums.index(max(sums))][0], max(sums)])
    header = unpack(TokenRows().payload(recording))[0]
    assert header["least"] == 0.2
    assert [each[:2] for each in header["alignment"]] == [each[:2] for each in wanted]
    drawn = [each[2] for each in header["alignment"]]
    assert drawn == pytest.approx([each[2] for each in wanted], abs=1e-4)
    assert 3 < len(wanted) < len(word_groups(recording.target))
    assert any(len(group) > 1 for group in (*sources, *word_groups(recording.target)))


@pytest.mark.parametrize("name", ["shakespeare", "sentiment"])
def test_without_cross_attention_are_no_lines(name: str) -> None:
    recording = record(load_checkpoint(f"checkpoints/{name}", "cpu"), "It was good.")
    assert unpack(TokenRows().payload(recording))[0]["alignment"] is None
