"""Judges of a translation checkpoint: test sets, the stage set, word alignments."""
