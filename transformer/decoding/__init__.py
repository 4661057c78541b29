"""Decoding: source text -> target tokens. One method a file, each declared by METHOD."""

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
