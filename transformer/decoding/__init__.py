"""Decoding: source text -> target tokens. One method a file, each declared by METHOD.

A method is a generator that says what is to be read next and is sent the logits. `alone` runs one
of them; a `SharedBatch` runs those of any number of threads as one batch, since a step of eight
sentences costs little more than one of one. Who comes joins at the next step, with keys padded at
their beginning, and leaves at the end of its own text; one of them by itself is computed to the bit
as `alone` does. Where a step of all fails, each runs alone.

A search is a value. Whatever a method looks at it writes into a `Trail`; `decoding.search` is the
tree of it: nodes with their parent, the log-probability of their token alone, the score of the path
in parts, and the reason why nothing was written after them. `Constraints` (a prefix, phrases that
must and that may not stand in the target) are token ids, and every token that they write keeps its
true price.
"""

from transformer.decoding.constraints import Constraints, constraints_of
from transformer.decoding.decode import decode, decoding_methods, default_method
from transformer.decoding.method import Hypothesis, OptionError
from transformer.decoding.search_tree import Dropped, Node, Score, SearchTree
from transformer.decoding.steps import Decoding, Step
from transformer.inputs import InputError
from transformer.token import Candidate

__all__ = [
    "Candidate",
    "Constraints",
    "Decoding",
    "Dropped",
    "Hypothesis",
    "InputError",
    "Node",
    "OptionError",
    "Score",
    "SearchTree",
    "Step",
    "constraints_of",
    "decode",
    "decoding_methods",
    "default_method",
]
