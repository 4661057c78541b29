"""Words that screens explain, one a file, found by their constant WORD."""
