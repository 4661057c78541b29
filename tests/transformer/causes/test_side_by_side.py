"""Words that stand for each other in two texts, against forced passes that hold them."""

import pytest

from transformer import decode, load_checkpoint, record
from transformer.analysis.scored import log_probabilities
from transformer.causes.prefix import partings
from transformer.words import word_groups, words_of

TEXT = "I am allergic to nuts. Are there any in the cake?"


def test_each_gives_the_words_of_the_other_what_a_forced_pass_says() -> None:
    checkpoint = load_checkpoint("checkpoints/en-de-1", "cpu")
    beam = decode(checkpoint, TEXT, "beam")
    other = beam.hypotheses[1]
    second = tuple(map(checkpoint.tokenizer.token, other.ids))
    first = beam.target
    result = partings(checkpoint, TEXT, first, second)
    assert result and partings(checkpoint, TEXT, first, first) == []
    own, others = (log_probabilities(record(checkpoint, TEXT, it)) for it in (first, second))
    groups, other_groups = word_groups(first), word_groups(second)
    for it in result:
        assert it.word == words_of(first)[it.place] != it.other
        wanted = float(own[list(groups[it.place])].sum())
        assert it.log_prob == pytest.approx(wanted, abs=1e-4)
        wanted = float(others[list(other_groups[it.other_place])].sum())
        assert it.other_log_prob == pytest.approx(wanted, abs=1e-4)
        before = first[: groups[it.place][0]]
        word = [second[i] for i in other_groups[it.other_place]]
        mixed = log_probabilities(record(checkpoint, TEXT, [*before, *word]))
        assert it.other_here == pytest.approx(float(mixed[len(before) :].sum()), abs=1e-4)
