"""Outputs of texts as they are, with which those under edits are compared."""
