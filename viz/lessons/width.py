"""The sizes that the cost of a layer depends on."""

from transformer.recording import Recording
from viz.lessons.place import Place


def sizes_of(recording: Recording, place: Place) -> tuple[int, int]:
    """n, the tokens that are read, and d, the width of all heads together, known where q is."""
    attention = recording.attentions[place.kind]
    return len(attention.keys), attention.n_heads * attention.calls[0].q.size(-1)
