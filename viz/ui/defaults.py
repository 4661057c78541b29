"""What is chosen first."""

from typing import get_args

from transformer.decoding import default_method
from transformer.tokenizer import Side

DEFAULT_METHODS = {reads: default_method(reads) for reads in get_args(Side)}
"""By how a model reads: the best translations, and texts that do not repeat themselves."""
