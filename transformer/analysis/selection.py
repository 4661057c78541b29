"""A head of a recording, by its place."""

from dataclasses import dataclass

from transformer.recording import Attention, Recording


@dataclass(frozen=True)
class Selection:
    """One head of a recording."""

    kind: str
    layer: int
    head: int

    def attention(self, recording: Recording) -> Attention:
        return recording.attentions[self.kind]

    def __str__(self) -> str:
        return f"L{self.layer} H{self.head}"  # in the ids of figures; people read the name

    def name(self, recording: Recording) -> str:
        """Name it as the model itself counts its layers: "L2 H3"."""
        return f"L{self.attention(recording).number(self.layer)} H{self.head}"
