"""What is chosen first."""

DEFAULT_METHODS = {"source": "beam", "prompt": "sample"}
"""By how a model reads: the best translations, and texts that do not repeat themselves."""
