"""The second sentence of Decode, where a model gives a text's vector."""

from dataclasses import dataclass

from viz.choice import PageFields, choice
from viz.spelling import TEXT


@dataclass(frozen=True)
class DecodeFields:
    """The choices of Decode."""

    second_text: str | None = choice(TEXT)
    """The sentence whose vector is compared with the text's."""


FIELDS = PageFields("decode", DecodeFields)
