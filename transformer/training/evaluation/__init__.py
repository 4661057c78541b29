"""What a translation checkpoint is judged by: test sets, the stage set, word alignments."""
