"""Questions of the small grammar, and the heads that answer them."""

import pytest

from tests.planted import ROLES, planted_on_words
from transformer import Checkpoint, InputError, load_checkpoint, record
from transformer.checkpoint import checkpoints_folder
from transformer.corpus.ask import Frequency, answers, over
from transformer.corpus.questions import Pattern, Spot, ask, countable, open_cells, read_words
from transformer.corpus.shipped import Place
from transformer.device import DeviceError
from transformer.recording import Recording

TEXT = "the old man has the phone and he likes it"
PAIR = ("The leaves blew away.", "Die Blätter wehten.")
QUESTIONS = {
    "Who looks at the previous word?": "previous",
    "who attends to the word before": "previous",
    "Which heads look at the previous word in the encoder?": "previous",
    "who links *he* to *and*?": "previous",
    "what heads connect “man” with “old”?": "previous",
    "who links has to man?": "previous",
    "which head looks at the next word?": "next",
    "who looks at the following word?": "next",
    "who links man to has?": "next",
    "who looks from likes to it?": "next",
    "from and to he": "next",
    "he -> likes": "next",
    "who looks at itself?": "same",
    "which heads look at the same word": "same",
    "Who looks at the first word?": "first",
    "who links it to the?": "first",
    "who looks at the start?": "first",
    "who looks at the end?": "end",
    "who reads the end token?": "end",
    "who links it to phone?": "rare",
    "who looks at phone?": "rare",
    "who looks at the phone from he?": "rare",
}


@pytest.fixture(scope="module")
def recording() -> Recording:
    return record(planted_on_words(), TEXT)


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_planted_head_answers(recording: Recording, question: str) -> None:
    best, *others = answers(ask(question), recording)
    assert ROLES[best.head] == QUESTIONS[question]
    assert best.weight > 0.9 and best.is_largest
    assert best.margin == best.weight - others[0].weight > 0.2
    assert len(others) == len(ROLES) - 1


def test_several_words_are_joined_by_or(recording: Recording) -> None:
    """Words with “or” between them: the strongest of their cells."""
    best, *_ = answers(ask("who links it or he to phone or banana?"), recording)
    assert ROLES[best.head] == "rare" and best.key == (5,) and best.query in {(7,), (9,)}


def test_a_spot_is_one_of_several_places_of_a_word() -> None:
    """Of two cells of the same words only the one that is meant counts."""
    recording = record(planted_on_words(), "he likes it and he has it")
    pattern = ask("who links it to likes?")
    near, *_ = answers(pattern, recording, Spot("encoder_self", (2,), (1,)))
    assert ROLES[near.head] == "previous" and (near.query, near.key) == ((2,), (1,))
    far = answers(pattern, recording, Spot("encoder_self", (6,), (1,)))
    previous = next(each for each in far if ROLES[each.head] == "previous")
    assert previous.weight < 0.01 and not previous.looks_there
    both, *_ = answers(pattern, recording, Spot("encoder_self", (2, 6), (1, 5)))
    assert ROLES[both.head] == "previous" and both.weight > 0.9


def test_a_head_that_looks_at_all_alike_looks_nowhere(recording: Recording) -> None:
    of = {ROLES[each.head]: each for each in answers(ask("who links it to phone?"), recording)}
    assert of["rare"].looks_there and not of["uniform"].looks_there
    assert of["uniform"].weight == pytest.approx(of["uniform"].chance, abs=1e-4)


def test_an_answer_says_where(recording: Recording) -> None:
    best, *_ = answers(ask("who links it to phone?"), recording)
    assert (best.query, best.key) == ((9,), (5,))
    (anywhere, *_) = answers(ask("where does he look?"), recording)
    assert anywhere.query == (7,) and anywhere.weight > 0.9


def test_other_sentences_say_how_often() -> None:
    texts = ["the phone is new", "he likes a phone", "the old man has it", "it is a new phone"]
    *_, of = over(ask("who looks at phone?"), planted_on_words(), texts)
    rare, first = (of["encoder_self", 0, ROLES.index(role)] for role in ("rare", "first"))
    assert (rare.n_sentences, rare.n_rows, rare.share) == (3, 13, 1.0)
    assert first.share == 0.0
    *_, of = over(ask("who looks at the first word?"), planted_on_words(), texts)
    assert of["encoder_self", 0, ROLES.index("first")].share == 1.0
    assert of["encoder_self", 0, ROLES.index("end")].n_sentences == 4


DRAWN = {  # the cells of a role, and the pattern that they make in other texts
    "previous": (((2, 1), (4, 3)), "who looks at the previous word in the encoder?"),
    "next": (((2, 3), (4, 5)), "who looks at the next word in the encoder?"),
    "same": (((3, 3),), "who looks at the same word in the encoder?"),
    "first": (((2, 0), (8, 0)), "who looks at the first word in the encoder?"),
    "end": (((2, 10), (8, 10)), "who looks at the end in the encoder?"),
    "rare": (((7, 5), (9, 5)), "who looks at phone in the encoder?"),
    "duplicate": (((0, 4), (4, 0)), "who looks at the in the encoder?"),
}


@pytest.mark.parametrize("role", DRAWN)
def test_drawn_cells_find_the_planted_head(recording: Recording, role: str) -> None:
    cells, asks = DRAWN[role]
    pattern = Pattern(kind="encoder_self", cells=cells)
    best, *others = answers(pattern, recording)
    assert ROLES[best.head] == role and best.weight > 0.9 > others[0].weight
    assert best.elsewhere < 0.1 and best.chance == pytest.approx(1 / 11)
    assert countable(pattern, recording) == ask(asks)


def test_of_drawn_cells_a_row_counts_with_all_of_its_own(recording: Recording) -> None:
    """The sum over a row's cells, the mean over rows that have any."""
    half = Pattern(cells=((7, 5), (9, 0), (9, 8)))
    weights = {ROLES[each.head]: each.weight for each in answers(half, recording)}
    for role, weight in (("rare", 0.5), ("first", 0.5), ("previous", 0.5), ("next", 0.0)):
        assert weights[role] == pytest.approx(weight, abs=0.01)
    assert weights["uniform"] == pytest.approx(1.5 / 11, abs=1e-4)
    of = {ROLES[each.head]: each for each in answers(half, recording)}
    assert of["next"].elsewhere == pytest.approx(1.0, abs=0.01)
    assert countable(half, recording) is None


def test_one_cell_is_that_of_its_words(recording: Recording) -> None:
    one = Pattern(cells=((9, 5),))
    assert countable(one, recording) == Pattern("it", "phone", kind="encoder_self")
    assert countable(ask("who looks at phone?"), recording) == ask("who looks at phone?")


def test_words_so_many_back_are_asked_for_by_a_number(recording: Recording) -> None:
    drawn = Pattern(kind="encoder_self", cells=((4, 1), (5, 2), (9, 6)))
    pattern = countable(drawn, recording)
    assert pattern == ask("who looks 3 words back in the encoder?")
    of_map = {each.head: each for each in answers(pattern, recording)}
    previous, uniform = (of_map[ROLES.index(role)] for role in ("previous", "uniform"))
    assert previous.weight < 0.01 and uniform.weight == pytest.approx(1 / 11)
    assert ask("who looks at the word 1 back?") == ask("who looks at the previous word?")
    with pytest.raises(InputError):
        answers(ask("who looks at the word 99 ahead?"), recording)


def test_cells_beyond_a_text_or_a_mask_are_refused(recording: Recording, small: Checkpoint) -> None:
    with pytest.raises(InputError, match="within its map"):
        answers(Pattern(cells=((2, 1), (40, 1))), recording)
    with pytest.raises(InputError, match="400"):
        ask("who looks at cells " + " ".join(f"q{i}k0" for i in range(401)))
    causal = read_words(record(small, *PAIR), "decoder_self")
    n, are = len(causal.rows), open_cells(causal)
    assert are.tolist() == [[0 < row >= column for column in range(n)] for row in range(n)]
    with pytest.raises(InputError, match="no mask closes"):
        answers(Pattern(kind="decoder_self", cells=((1, 2),)), causal.recording)


@pytest.mark.parametrize(
    "pattern",
    [
        Pattern(place="3 back"),
        Pattern("it", place="12 ahead", kind="cross"),
        Pattern("it", "3 back"),
        Pattern("it", kind="own_self"),
        Pattern(cells=((5, 7), (12, 0)), kind="cross"),
        Pattern(cells=((5, 7),), kind="own_self"),
        Pattern("it", "phone"),
        Pattern(key="phone", kind="cross"),
        Pattern(place="previous"),
        Pattern("it", place="end", kind="encoder_self"),
        Pattern("it"),
        *(Pattern("it", word) for word in ("first", "End", "itself", ".", "?", '"', "U.S.", "*")),
        Pattern("?", kind="decoder_self"),
        Pattern("", "the same"),
        Pattern("to", "to"),
        Pattern("it or he", "phone or first or or"),
    ],
)
def test_a_pattern_is_spelled_as_a_question(pattern: Pattern) -> None:
    assert ask(str(pattern)) == pattern


@pytest.mark.parametrize("text", ["", "who?", "what is attention", "who links it", "x" * 5000])
def test_other_questions_are_refused_with_the_grammar(text: str) -> None:
    with pytest.raises(InputError, match="who links WORD to WORD"):
        ask(text)


@pytest.mark.parametrize(
    "text",
    ["who links it to banana?", "who looks at it in the decoder?", "who links likes to likes?"],
)
def test_what_the_text_lacks_is_said(recording: Recording, text: str) -> None:
    with pytest.raises(InputError, match="stand in the text"):
        answers(ask(text), recording)


def test_a_word_at_both_ends_is_at_two_places() -> None:
    recording = record(planted_on_words(), "he likes it and he has it")
    for each in answers(ask("who links he to he?"), recording):
        assert {each.query, each.key} == {(0,), (4,)}
    with pytest.raises(InputError, match="itself"):
        answers(ask("who links likes to likes?"), recording)


@pytest.fixture(scope="module")
def small() -> Checkpoint:
    return load_checkpoint(checkpoints_folder() / "en-de-small", "cpu")


def test_what_a_mask_closes_is_no_answer(small: Checkpoint) -> None:
    """Nor is a row with one open key, whose weight is 1 whatever the head does."""
    recording = record(small, *PAIR)
    with pytest.raises(InputError, match="Nothing"):
        answers(ask("who looks at the next word in the decoder?"), recording)
    assert [*over(ask("who looks at the next word in the decoder?"), small, PAIR[:1])] == [{}]
    for place in ("first word", "same word"):
        assert all(
            each.query != (0,)
            for each in answers(ask(f"who looks at the {place} in the decoder?"), recording)
        )
    *_, of = over(ask("who looks at weg in the decoder?"), small, PAIR[:1])  # Die … lief weg.
    assert {each.n_rows for each in of.values()} == {2}  # its own row, and the one behind it


def test_words_of_the_output_are_found_on_other_sentences(small: Checkpoint) -> None:
    for question in ("who looks at Die?", "where does Die look in cross-attention?"):
        *_, of = over(ask(question), small, PAIR[:1])
        assert all(each.n_sentences == 1 for each in of.values())


def test_counts_are_those_of_each_sentence_by_itself_and_go_on(small: Checkpoint) -> None:
    """Whatever is decoded together; a sentence that is refused or has no such word adds nothing."""
    pattern = ask("who looks at the first word?")
    texts = [PAIR[0], "", "Tom lives in Boston.", " ".join(["word"] * 500), "I see.", PAIR[0]]
    *_, whole = over(pattern, small, texts)
    so_far: dict[Place, Frequency] = {}
    for text in texts:
        (so_far,) = over(pattern, small, [text], so_far)
    assert so_far == whole and {each.n_sentences for each in whole.values()} == {4}


def test_a_device_that_fails_is_no_sentence_without_such_words(
    small: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> Recording:
        raise DeviceError("The device fails.")

    monkeypatch.setattr("transformer.corpus.ask.record", fails)
    with pytest.raises(DeviceError):
        list(over(ask("who looks at the first word?"), small, PAIR[:1]))


def test_every_text_has_its_end(small: Checkpoint) -> None:
    """It is no word that a text spells."""
    *_, of = over(ask("who looks at *</s>* in the encoder?"), small, PAIR[:1])
    assert {each.n_sentences for each in of.values()} == {1}


def test_pieces_become_words() -> None:
    """A word of several pieces: the mean of its rows, the sum of its columns."""
    checkpoint = load_checkpoint(checkpoints_folder() / "en-de-small", "cpu")
    recording = record(checkpoint, "The leaves blew away.", "Die Blätter wehten.")
    attention = recording.attentions["encoder_self"]
    (leaves,) = {each.query for each in answers(ask("from leaves to away"), recording)}
    assert len(leaves) > 1
    for each in answers(ask("from away to leaves in the encoder"), recording):
        cells = attention.weights(each.layer, each.head)[list(each.query)][:, list(each.key)]
        assert each.weight == pytest.approx(float(cells.sum(-1).mean()), abs=1e-6)
