"""Questions about heads: their grammar, and the cells of a text that they are about."""

from transformer.corpus.questions.grammar import GRAMMAR, Pattern, ask

__all__ = ["GRAMMAR", "Pattern", "ask"]
