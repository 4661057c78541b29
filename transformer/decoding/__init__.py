"""Decoding: source text -> target tokens. One method a file, each declared by METHOD."""

from transformer.decoding.decode import decode, decoding_methods, default_method
from transformer.decoding.method import Hypothesis
from transformer.decoding.options import OptionError
from transformer.decoding.steps import Candidate, Decoding, Step
from transformer.inputs import InputError

__all__ = [
    "Candidate",
    "Decoding",
    "Hypothesis",
    "InputError",
    "OptionError",
    "Step",
    "decode",
    "decoding_methods",
    "default_method",
]
