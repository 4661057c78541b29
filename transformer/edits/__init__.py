"""Changes of a model for one run. One kind of edit a file, each declared by EDIT."""

from transformer.edits.edit import Edit, EditError, EditKind, Value
from transformer.edits.spelling import edit_kinds, edits_of, of_any_text, parse

__all__ = [
    "Edit",
    "EditError",
    "EditKind",
    "Value",
    "edit_kinds",
    "edits_of",
    "of_any_text",
    "parse",
]
