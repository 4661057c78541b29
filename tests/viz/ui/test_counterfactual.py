"""Rows that another word needs say what the decoding in use writes with them."""

import pytest

from tests.representatives import thorough
from transformer import decode, load_checkpoint
from transformer.checkpoint import checkpoints_folder
from transformer.edits import parse
from viz.figure_at import page_of
from viz.pages.decode.counterfactual import AnotherWord, _written
from viz.run.work import finish
from viz.screen import parse as screen_of

WOMAN = (
    "The woman whose car was stolen yesterday is talking to the police officer in front of the "
    "supermarket."
)
HEADS = tuple(("cross", layer, head) for layer in range(3) for head in range(8))


@pytest.mark.parametrize(("method", "writes_it"), [("beam", False), thorough(("greedy", True))])
def test_the_most_probable_word_of_a_step_is_not_always_written(
    method: str, writes_it: bool
) -> None:
    """Beam search takes another one where the lead is narrow, and that is said."""
    checkpoint = load_checkpoint(checkpoints_folder() / "en-de-1", "cpu")
    choices = {"page": "decode", "checkpoint": "en-de-1", "text": WOMAN, "decoding": method}
    pane, _ = page_of(screen_of(choices))
    step = [token.piece for token in pane.recording.target].index("▁die")
    (id,) = checkpoint.tokenizer.encode("dessen", "target")[:-1]
    result = finish(AnotherWord(pane.request, step, id, HEADS))
    edits = [parse(str(edit)) for edit in result.needs.edits]
    again = decode(checkpoint, WOMAN, method, edits=edits)
    assert result.needs.reached and result.text == again.text
    assert result.writes_it is (again.target[step].id == id)
    assert result.text in _written(result).replace("\u2060", "")
    assert result.writes_it == writes_it
