"""Words of a source that left no trace: the rule, real sentences, and where nothing is said."""

from dataclasses import replace

import pytest
import torch

from tests.conftest import SENTENCES
from transformer import Checkpoint, evidence, load_checkpoint, record
from transformer.analysis.lost import (
    FUNCTION_WORDS,
    LOST,
    Lost,
    content_words,
    function_words,
    losses,
    lost_sentence,
    lost_spans,
    lost_words,
    traces,
)
from transformer.checkpoint import shipped_path
from transformer.edits import Edit

ENGLISH = FUNCTION_WORDS["en"]
HARBOUR = "The children played in the harbour until it was dark."
WORDS = ["He", "slept", "for", "three", "days", "and", "the", "dog", "barked", "."]


def spans(sure: set[int], near: set[int] = frozenset()) -> list[str]:
    content = content_words(dict(enumerate(WORDS)), ENGLISH)
    return [each.text for each in lost_spans(WORDS, sure, near | sure, content)]


def test_a_span_grows_over_neighbours_and_loses_its_function_words() -> None:
    assert spans(set()) == [] == spans(set(), {2, 3, 4})
    assert spans({4}, {2, 3, 5, 6}) == ["for three days"]
    assert spans({1, 8}, {7}) == ["slept", "dog barked"]


def test_a_phrase_does_the_work_of_a_function_word() -> None:
    def content(text: str) -> list[str]:
        words = dict(enumerate(text.split()))
        return [words[i] for i in sorted(content_words(words, ENGLISH))]

    assert content("The pair of shoes stood in front of me .") == ["pair", "shoes", "stood"]
    assert content("A pair of shoes stood at the front") == ["shoes", "stood", "front"]


def test_what_stands_there_twice_or_is_hidden_is_not_said() -> None:
    checkpoint = load_checkpoint(shipped_path("en-de"), "cpu")
    text, target = "We saw Peter when Peter was in Berlin.", "Wir sahen ihn, als er dort war."
    plain = record(checkpoint, text, target)
    values = torch.tensor([2, 2, -1.0, 2, -1, 2, 2, -1, 2, 2])
    inputs = (checkpoint, text, plain.source, plain.target, 0.0, values)
    assert [each.text for each in lost_words(*inputs)] == ["Berlin"]
    assert lost_words(*inputs, [Edit("hide", "source", (7,))]) == ()


def test_a_gain_counts_up_to_a_bound() -> None:
    hidden, cut = torch.tensor([-9.0, 1.0, -1.0]), torch.tensor([1.0, -9.0, 0.5])
    assert traces(hidden, cut).tolist() == pytest.approx([0.4, -1.7, 0.2])


def test_the_sentence_names_all_of_them() -> None:
    one, two, three = (Lost(word, (i,)) for i, word in enumerate(("a", "b c", "d")))
    assert lost_sentence([]) == ""
    said = lost_sentence([one, two, three])
    assert all(f"“{each.text}”" in said for each in (one, two, three)) and said.count(".") == 1


def test_what_a_neighbour_says_as_well_is_not_lost() -> None:
    """Either half costs nothing by itself, as a quick look at both would have it lost."""
    checkpoint = load_checkpoint(shipped_path("en-de"), "cpu")
    text, target = "Few people can tell them apart.", "Wenige Leute können sie auseinanderhalten."
    result = evidence(checkpoint, text, target)
    costs = traces(result.hidden.sum(0), result.cut.sum(0))
    assert costs[result.source_words.index("tell")] < LOST and not result.lost


@pytest.mark.parametrize(
    ("text", "target", "lost"),
    [
        (HARBOUR, "Die Kinder spielten im Hafen, bis es dunkel wurde.", []),
        (HARBOUR, "Die Kinder spielten, bis es dunkel wurde.", ["in the harbour"]),
        (HARBOUR, "Die Kinder spielten im Hafen.", ["dark"]),
        ("My uncle sold his red car to a neighbour.", "Mein Onkel hat sein Auto verkauft.", None),
    ],
)
def test_what_a_translation_lost(text: str, target: str, lost: list[str] | None) -> None:
    checkpoint = load_checkpoint(shipped_path("en-de"), "cpu")
    result = evidence(checkpoint, text, target)
    assert lost is None or [each.text for each in result.lost] == lost
    assert not result.not_judged
    words = [result.source_words[i] for i in result.lost_words]
    assert " ".join(each.text for each in result.lost).split() == words
    plain = record(checkpoint, text, target)
    assert losses(checkpoint, text, plain.source, plain.target) == result.lost


def test_ahmed_is_lost() -> None:
    checkpoint = load_checkpoint(shipped_path("en-de-1"), "cpu")
    result = evidence(checkpoint, "My colleague Ahmed speaks Arabic, French and Turkish.")
    assert [each.text for each in result.lost] == ["Ahmed"]
    assert "Ahmed" not in result.target_words


def test_nothing_is_said_of_what_is_no_translation_from_english(
    text_checkpoint: Checkpoint,
) -> None:
    alone = load_checkpoint(shipped_path("everyday"), "cpu")
    judge = load_checkpoint(shipped_path("sentiment"), "cpu")
    for result in (evidence(alone, "She told me that she", "was"), evidence(judge, "A dull film.")):
        assert not result.lost and not result.not_judged
    result = evidence(text_checkpoint, SENTENCES[0], "Die Katze.")
    assert not result.lost and text_checkpoint.name in result.not_judged


@pytest.mark.parametrize(
    ("name", "recipe", "reads_english"),
    [
        ("mine", "en-de-long", True),
        ("opus-mt-en-fr", "Hugging Face", True),
        ("opus-mt-de-en", "Hugging Face", False),
        ("opus-mt-tc-big-en-de", "", True),
        ("bart-large-cnn", "", False),
        ("copy", "copy", False),
    ],
)
def test_a_language_is_known_by_a_name(
    name: str, recipe: str, reads_english: bool, text_checkpoint: Checkpoint
) -> None:
    about = replace(text_checkpoint.about, recipe=recipe)
    path = text_checkpoint.path.with_name(name)
    assert bool(function_words(replace(text_checkpoint, path=path, about=about))) == reads_english
