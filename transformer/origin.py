"""The call that a recording, a decoding or evidence came of: enough to make it again elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from transformer.field_docs import fields_in_help
from transformer.in_a_line import in_a_line


@fields_in_help
@dataclass(frozen=True)
@in_a_line
class Origin:
    """A text that was given to a model of ours, and how. It keeps nothing of the model itself."""

    checkpoint: Path
    """Its folder or file."""
    text: str
    """The text, as it was given."""
    edits: tuple[str, ...] = ()
    """Changes of the model for that run, as they are spelled."""
    method: str = ""
    """The decoding method; empty: nothing was written, or the target was given."""
    options: Mapping[str, object] = field(default_factory=dict)
    """The chosen ones, by their names; of `force` and `forbid` the phrases."""
    prefix: tuple[int, ...] = ()
    """Ids of the tokens that the target was made to begin with."""
