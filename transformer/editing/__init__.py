"""Edits at work: in models of ours, in any other, and while a text is decoded."""
