"""Kinds of attention that the calls of a pass are of, and the tokens that they stand between."""
