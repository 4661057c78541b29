"""The lenses: what a map of attention can show, one per file, found by their constant LENS."""
