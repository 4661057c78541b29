"""The badge of a recording: its numbers, what it lacks, and in red what is wrong with it."""

from dataclasses import replace
from types import SimpleNamespace

from streamlit.testing.v1 import AppTest

from tests.conftest import random_checkpoint
from transformer import Recording, decode, record
from transformer.config import ModelConfig
from transformer.recording import Unseen
from viz.ui.token_row import _name, missing, numbering, numbers, wrong

CHECKPOINT = random_checkpoint(
    ModelConfig(vocab_size=31, d_model=24, d_ff=40, n_heads=3, eos_id=None)
)


def recorded() -> Recording:
    return record(CHECKPOINT, "5 9 12", decode(CHECKPOINT, "5 9 12", "greedy").target)


def bent(recording: Recording) -> Recording:
    """With values that the model never had."""
    attention = recording.attentions["cross"]
    first, *rest = attention.calls
    calls = (replace(first, v=first.v + 1), *rest)
    attentions = {**recording.attentions, "cross": replace(attention, calls=calls)}
    return replace(recording, attentions=attentions)


def script() -> None:
    import streamlit as st

    from viz.ui.token_row import badge

    badge(st.session_state["answer"])


def page(recording: Recording) -> AppTest:
    test = AppTest.from_function(script, default_timeout=30)
    test.session_state["answer"] = SimpleNamespace(recording=recording, checkpoint=CHECKPOINT)
    return test.run()


def test_a_recording_that_is_right_says_so_in_a_badge() -> None:
    shown = page(recorded())
    assert not shown.exception and not shown.error
    first, *rest = numbers(recorded().checked)
    assert first.startswith("The recorded weights times the recorded values are what the model gav")
    assert first.endswith("of the largest value (all 18 layers, after W_O).")
    sums, masked, *names = rest
    assert (sums, masked) == ("Rows sum to 1.", "Masked cells hold 0.")
    assert len(names) == 1 and "read off the ids" in names[0]


def test_names_that_nothing_proves_are_not_called_checked() -> None:
    recording = recorded()
    open_one = replace(recording.checked, is_right=None, unproven=("2 layers of cross, unseen",))
    recording.__dict__["checked"] = open_one
    assert not page(recording).exception
    assert numbers(open_one)[1].endswith("2 layers of cross-attention, unseen.")
    assert _name(open_one)[0] != _name(recorded().checked)[0]


def test_a_recording_that_is_wrong_says_so_in_red() -> None:
    recording = bent(recorded())
    shown = page(recording)
    (said,) = shown.error
    assert said.value.startswith("This recording is wrong")
    assert "Do not rely on these pictures" in wrong(recording.checked)


def test_what_the_pass_contradicts_is_said_in_red() -> None:
    clause = "2 layers of encoder_self, whose words stand in other columns"
    checked = replace(recorded().checked, is_right=False, contradictions=(clause,))
    shown = page(SimpleNamespace(checked=checked, unseen=()))  # type: ignore[arg-type]
    (said,) = shown.error
    assert "2 layers of encoder self-attention" in wrong(checked)
    assert "words stand in other columns" in said.value and not shown.exception


def test_what_was_not_understood_is_one_line() -> None:
    recording = recorded()
    assert missing(recording) == []
    found = Unseen("encoder.*.attention", "its attention runs over blocks of the sequence")
    (said,) = missing(replace(recording, unseen=(found,)))
    assert said.replace("\\", "") == (
        "Not in these pictures: encoder.*.attention: its attention runs over blocks of the sequence"
    )


def test_what_cannot_be_checked_is_named_as_on_screen() -> None:
    recording = recorded()
    cross = recording.attentions["cross"]
    blind = replace(cross, calls=tuple(replace(call, sample=None) for call in cross.calls))
    checked = replace(recording, attentions={"cross": blind}).checked
    assert numbers(checked)[0] == (
        "Not checkable: 6 layers of cross-attention, what it gave was not seen."
    )


def test_a_hybrid_s_layers_are_named_as_the_model_does() -> None:
    recording = recorded()
    assert numbering(recording) == []
    decoder = replace(recording.attentions["decoder_self"], numbers=(1, 3, 5, 7, 9, 11))
    cross = replace(recording.attentions["cross"], numbers=(4,))
    changed = replace(recording, attentions={"decoder_self": decoder, "cross": cross})
    assert numbering(changed) == [
        "Decoder: layers 1, 3, 5, 7, 9, 11 of the model",
        "Cross: layer 4 of the model",
    ]
