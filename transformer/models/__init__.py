"""Model families, one per file; each declares itself with a constant FAMILY."""
