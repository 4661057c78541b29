"""The attentions that an edit changes."""

from transformer.edits.edit import Edit
from transformer.edits.spelling import edit_kinds


def kinds_of(edit: Edit) -> tuple[str, ...]:
    """The kinds of attention that an edit is of, where a model has them; none of positions."""
    kind = edit_kinds()[edit.name]
    if kind.closes is not None:
        return kind.closes.get(edit.place, ())
    return () if kind.of == "side" else (edit.place,)


def first_layer(edit: Edit) -> int:
    """The first layer that an edit changes."""
    kind = edit_kinds()[edit.name]
    return 0 if kind.of in ("kind", "read word") else edit.layer
