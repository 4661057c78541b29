"""The choices of Decode: steps or the whole text, and a second sentence for a text's vector."""

from dataclasses import dataclass

from viz.about import CHECKPOINT
from viz.choice import PageFields, choice
from viz.spelling import TEXT, YES, one_of


@dataclass(frozen=True)
class DecodeFields:
    """The choices of Decode."""

    decode_as: str | None = choice(one_of("tree", "steps", "text", "reference"))
    """The search as a tree, the output step by step, or as a text with the probability of each
    word; or a reference. None: the tree, where more than one hypothesis was followed."""
    reference: str | None = choice(TEXT)
    """A translation, or continuation, that the model scores word by word."""
    second_text: str | None = choice(TEXT)
    """The sentence whose vector is compared with the text's."""
    decoder_lens: bool = choice(YES, False, CHECKPOINT)
    """The texts that lower layers of the encoder give are open."""
    hypotheses: bool = choice(YES, False, CHECKPOINT)
    """All finished hypotheses are open, with their scores in parts."""
    side_by_side: bool = choice(YES, False, CHECKPOINT)
    """The texts of all decoding methods are open."""


FIELDS = PageFields("decode", DecodeFields)
