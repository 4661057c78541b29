"""The declaration of a lens: a way to turn a recorded attention into a map."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from transformer.recording import Recording


def always(recording: Recording, kind: str) -> str | None:
    """The `why_not` of a lens that suits every attention."""
    return None


@dataclass(frozen=True)
class Lens:
    """One quantity that each query has for each key.

    compute: (recording, kind, layer) -> float32 on the CPU, [H, Q, K]; or [1, Q, K] where all
    heads of the layer make one map. Cells that a mask forbids are 0.
    """

    name: str
    title: str
    """Stands in sentences, too: "the attention rollout for animal in layer 2 is 0.672"."""
    formula: str
    """In LaTeX as viz/formula.py reads it, with the symbols of the glossary."""
    explain: str
    """The meaning, in a sentence that stands by itself on a card; then how it treats residual,
    normalisation and masks."""
    scale: Literal["share", "size", "signed"]
    """Values lie in 0..1; in 0..largest; or on both sides of 0."""
    compute: Callable[[Recording, str, int], Tensor]
    per_head: bool = True
    of_output: bool = False
    """True: it says what the words that are written depend on, in nats, whatever attention does:
    one map of the model, the same in every layer. Rows are named by the word that they write."""
    is_weights: bool = False
    """True: its values are the attention weights as they are, and need not be computed twice."""
    merge: Literal["sum", "max"] = "sum"
    """The rule that joins the pieces of a word that is a key."""
    why_not: Callable[[Recording, str], str | None] = always
    """(recording, kind) -> the sentence that says why it cannot be computed; None: it can."""
    source: str = ""
    """The publication it is from, such as "Vaswani et al. 2017, section 3.2.1"."""

    @property
    def cited(self) -> str:
        """Explain it, with its source."""
        return f"{self.explain[:-1]} ({self.source})." if self.source else self.explain
